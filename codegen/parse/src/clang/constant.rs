//! Macros and constants with a value. Clang evaluates numbers; a macro that stands for a name stays a name.
//!
//! For each macro the parse contains a line `enum { spgen_eval_X = (X) };`, and the enumerator has the value. The names
//! of the macros are guessed from the text; those that the guess misses need a second parse. Constants and enumerators
//! have their values without that.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clang_sys::*;
use sp_ir::{Alias, Constant, Item, Loc, Type, Value};

use super::cursor::{Cursor, Token};
use super::decl::{Node, Selection};
use super::literal;
use super::struct_size::Sizes;
use super::unit::{ParseError, ParseInput, Unit};
use crate::identifier::split_identifier;

/// Prefix of the enumerators that evaluate macros.
const EVALUATED: &str = "spgen_eval_";

/// The value of each evaluated name.
pub type Values = HashMap<String, i64>;

/// A macro, constant or enumerator with a value, which is not a struct's size.
pub struct NamedConstant {
    name: String,
    meaning: Meaning,
    loc: Loc,
}

enum Meaning {
    /// A number that clang evaluates.
    Number,
    Known(i64),
    Text(String),
    /// The name of a declaration, possibly of another parse.
    Name(String),
}

impl NamedConstant {
    /// Returns the name and the location.
    pub fn name_and_loc(&self) -> (&String, &Loc) {
        (&self.name, &self.loc)
    }
}

/// Returns the tokens of a macro's body, or `None` if the macro takes arguments. Clang does not report arguments of a
/// macro that is undefined later, so a parenthesis directly after the name decides.
pub fn macro_body(cursor: Cursor) -> Option<Vec<Token>> {
    if cursor.kind() != CXCursor_MacroDefinition || cursor.is_function_like() {
        return None;
    }
    let mut tokens = cursor.tokens();
    let takes_arguments = match tokens.as_slice() {
        [name, next, ..] => next.text == "(" && next.start == name.end,
        _ => false,
    };
    tokens.retain(|token| token.kind != CXToken_Comment);
    (!takes_arguments && !tokens.is_empty()).then(|| tokens.split_off(1))
}

/// Finds the constants in the selected headers, without the sizes.
pub fn find(nodes: &[Node], sizes: &Sizes) -> Vec<NamedConstant> {
    let mut numbers = BTreeSet::new();
    let mut constants = Vec::new();
    let selected = nodes
        .iter()
        .filter(|node| node.selection != Selection::Nothing);
    for node in selected {
        let is_own = matches!(node.selection, Selection::All | Selection::Describable);
        if node.cursor.kind() == CXCursor_EnumDecl {
            let values = is_own.then(|| constants_of_enum(node, sizes));
            constants.extend(values.into_iter().flatten());
            continue;
        }
        let Some(meaning) = meaning(node.cursor, &numbers) else {
            continue;
        };
        let (name, loc) = (node.cursor.name(), node.loc());
        if sizes.contains(&name) {
            continue;
        }
        if matches!(meaning, Meaning::Number) {
            numbers.insert(name.clone());
        }
        if is_own {
            constants.push(NamedConstant { name, meaning, loc });
        }
    }
    constants
}

/// The declared names that a macro may stand for.
struct DeclaredNames<'a> {
    items: &'a BTreeMap<String, Item>,
    variants: BTreeSet<&'a str>,
}

impl<'a> DeclaredNames<'a> {
    fn new(items: &'a BTreeMap<String, Item>) -> Self {
        let enums = items.values().filter_map(|item| match item {
            Item::Enum(item) => Some(item.variants.iter().map(|variant| variant.name.as_str())),
            _ => None,
        });
        Self {
            items,
            variants: enums.flatten().collect(),
        }
    }

    /// Returns the item for a macro that stands for `name`, or `None` if no declaration has the name.
    fn item(&self, name: &str, loc: &Loc) -> Option<Item> {
        if self.variants.contains(name) {
            return Some(constant(Value::Name(name.into()), loc));
        }
        Some(match self.items.get(name)? {
            Item::Function(_) | Item::Constant(_) => constant(Value::Name(name.into()), loc),
            _ => Item::Alias(Alias {
                doc: None,
                ty: Type::Named(name.into()),
                loc: loc.clone(),
            }),
        })
    }
}

fn constant(value: Value, loc: &Loc) -> Item {
    Item::Constant(Constant {
        doc: None,
        value,
        loc: loc.clone(),
    })
}

fn meaning(cursor: Cursor, numbers: &BTreeSet<String>) -> Option<Meaning> {
    match cursor.kind() {
        CXCursor_MacroDefinition => macro_meaning(&macro_body(cursor)?, numbers),
        CXCursor_VarDecl if is_constant_integer(cursor) => Some(Meaning::Number),
        _ => None,
    }
}

fn macro_meaning(body: &[Token], numbers: &BTreeSet<String>) -> Option<Meaning> {
    match body {
        [token] if token.kind == CXToken_Identifier && !numbers.contains(&token.text) => {
            Some(Meaning::Name(token.text.clone()))
        }
        literals if is_text(literals) => {
            let literals = literals.iter().map(|token| token.text.as_str());
            literal::string_value(literals).map(Meaning::Text)
        }
        body => {
            let numeric = !body.is_empty() && body.iter().all(|token| is_numeric(token, numbers));
            numeric.then_some(Meaning::Number)
        }
    }
}

fn is_text(body: &[Token]) -> bool {
    let mut tokens = body.iter();
    !body.is_empty()
        && tokens.all(|token| token.kind == CXToken_Literal && token.text.starts_with('"'))
}

/// Returns true if a token may be part of an integer expression.
fn is_numeric(token: &Token, numbers: &BTreeSet<String>) -> bool {
    match token.kind {
        CXToken_Literal => is_integer(&token.text),
        CXToken_Identifier => numbers.contains(&token.text),
        CXToken_Punctuation => "+-*/%|&^~<<>>()".contains(token.text.as_str()),
        _ => false,
    }
}

fn is_integer(literal: &str) -> bool {
    let digits = literal.trim_end_matches(['u', 'U', 'l', 'L']);
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    match hex {
        Some(hex) => hex.chars().all(|digit| digit.is_ascii_hexdigit()),
        None => !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit()),
    }
}

fn is_constant_integer(cursor: Cursor) -> bool {
    let ty = cursor.ty();
    let kind = ty.canonical().kind();
    ty.is_const() && (CXType_Bool..=CXType_Int128).contains(&kind)
}

/// Returns the enumerators as constants. Those of a named enumeration are dropped later, by `attach`.
fn constants_of_enum(node: &Node, sizes: &Sizes) -> Vec<NamedConstant> {
    enumerators(node)
        .filter(|(name, _)| !sizes.contains(name))
        .map(|(name, value)| NamedConstant {
            name,
            meaning: Meaning::Known(value),
            loc: node.loc(),
        })
        .collect()
}

/// Returns the name and the value of each enumerator.
fn enumerators<'n>(node: &'n Node) -> impl Iterator<Item = (String, i64)> + 'n {
    let enumerators = node.children.iter();
    enumerators
        .filter(|child| child.kind() == CXCursor_EnumConstantDecl)
        .map(|child| (child.name(), child.enum_value()))
}

/// Returns the names of macros that seem to be numbers or sizes.
pub fn guess_numeric_macros(input: &ParseInput) -> BTreeSet<String> {
    let headers = input.headers.iter();
    let paths = headers.map(|header| input.include_root.join(header));
    let texts = paths.filter_map(|path| std::fs::read_to_string(path).ok());
    texts.flat_map(|text| guess_in_text(&text)).collect()
}

fn guess_in_text(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let defines = text
        .lines()
        .filter_map(|line| line.strip_prefix("#define "));
    defines
        .filter_map(|define| {
            let (name, body) = split_identifier(define.trim_start());
            (!body.starts_with('(') && may_be_number(body)).then(|| name.to_string())
        })
        .collect()
}

fn may_be_number(body: &str) -> bool {
    let body = body.split("//").next().unwrap_or_default().trim();
    let is_size = body.contains("_OFFSET_OF_END(") || body.contains("_STRUCT_SIZE(");
    is_size || is_integer(body)
}

/// Returns the code with which clang evaluates those of `names` that are macros.
pub fn evaluation_code(names: &BTreeSet<String>) -> String {
    let names = names.iter();
    names
        .map(|name| format!("#ifdef {name}\n{}#endif\n", evaluation_enum(name)))
        .collect()
}

fn evaluation_enum(name: &str) -> String {
    format!("enum {{ {EVALUATED}{name} = ({name}) }};\n")
}

/// Returns the values of the sizes and of the numbers among `constants`.
///
/// # Errors
/// Returns an error if the first parse did not evaluate all of them, and a second parse fails.
pub fn evaluate(
    input: &ParseInput,
    unit: &Unit,
    nodes: &[Node],
    sizes: &Sizes,
    constants: &[NamedConstant],
) -> Result<Values, ParseError> {
    let mut values = evaluated_values(unit);
    values.extend(nodes.iter().flat_map(declared_values));
    let numbers = constants
        .iter()
        .filter(|constant| matches!(constant.meaning, Meaning::Number))
        .map(|constant| constant.name.as_str());
    let missing: BTreeSet<&str> = sizes
        .symbols()
        .chain(numbers)
        .filter(|name| !values.contains_key(*name))
        .collect();
    if !missing.is_empty() {
        let code: String = missing.into_iter().map(evaluation_enum).collect();
        values.extend(evaluated_values(&Unit::parse(input, &code)?));
    }
    Ok(values)
}

/// Returns the values of a constant or of enumerators, which need no evaluation by name.
fn declared_values(node: &Node) -> Vec<(String, i64)> {
    let cursor = node.cursor;
    match cursor.kind() {
        CXCursor_VarDecl if is_constant_integer(cursor) => {
            let value = cursor.initial_value();
            value
                .map(|value| (cursor.name(), value))
                .into_iter()
                .collect()
        }
        CXCursor_EnumDecl => enumerators(node).collect(),
        _ => Vec::new(),
    }
}

/// Returns the values of the enumerators that evaluate names.
fn evaluated_values(unit: &Unit) -> Values {
    let cursors = unit.cursor().children().into_iter();
    let enums = cursors.filter(|cursor| cursor.kind() == CXCursor_EnumDecl);
    let enumerators = enums.flat_map(Cursor::children);
    enumerators
        .filter_map(|enumerator| {
            let name = enumerator.name().strip_prefix(EVALUATED)?.to_string();
            Some((name, enumerator.enum_value()))
        })
        .collect()
}

/// Adds the constants to the items.
pub fn attach(items: &mut BTreeMap<String, Item>, constants: Vec<NamedConstant>, values: &Values) {
    let declared = DeclaredNames::new(items);
    let to_item = |named: &NamedConstant| match &named.meaning {
        Meaning::Number => Some(constant(Value::Int(*values.get(&named.name)?), &named.loc)),
        // A named enumeration contains its enumerators.
        Meaning::Known(_) if declared.variants.contains(named.name.as_str()) => None,
        Meaning::Known(value) => Some(constant(Value::Int(*value), &named.loc)),
        Meaning::Text(text) => Some(constant(Value::Text(text.clone()), &named.loc)),
        Meaning::Name(other) => declared.item(other, &named.loc),
    };
    let new_items: Vec<_> = constants.iter().map(to_item).collect();
    for (NamedConstant { name, .. }, item) in constants.into_iter().zip(new_items) {
        if let Some(item) = item {
            items.entry(name).or_insert(item);
        }
    }
}
