//! Macros and constants with a value: clang evaluates the numbers, names stay names.
//!
//! For each macro the parse gets a line `enum { spgen_eval_X = (X) };`, and the value is read off the
//! enumerator. Which macros there are is guessed from the text; what the guess misses costs a second
//! parse. Constants and enumerators have their values in the first.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clang_sys::*;
use sp_ir::{Alias, Constant, Item, Loc, Type, Value};

use super::cursor::{Cursor, Token};
use super::decl::{Node, Wanted};
use super::literal;
use super::struct_size::Sizes;
use super::unit::{ParseError, Source, Unit};

const EVALUATED: &str = "spgen_eval_";

/// What clang made of each expression.
pub type Values = HashMap<String, i64>;

/// A named value that is not a size.
pub struct Named {
    name: String,
    meaning: Meaning,
    loc: Loc,
}

enum Meaning {
    Number,
    Known(i64),
    Text(String),
    /// What some declaration may say.
    Name(String),
}

impl Named {
    /// Its name and where it stands.
    pub fn place(&self) -> (&String, &Loc) {
        (&self.name, &self.loc)
    }
}

/// The tokens of a macro's body; nothing where it takes arguments. Clang forgets that of a macro that
/// is undefined later on, so the parenthesis decides: it stands right behind the name.
pub fn body(cursor: Cursor) -> Option<Vec<Token>> {
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

/// Finds the constants of the wanted headers, sizes aside.
pub fn find(nodes: &[Node], sizes: &Sizes) -> Vec<Named> {
    let mut numbers = BTreeSet::new();
    let mut found = Vec::new();
    for node in nodes.iter().filter(|node| node.wanted != Wanted::Nothing) {
        let is_mine = matches!(node.wanted, Wanted::Items | Wanted::Describable);
        if node.cursor.kind() == CXCursor_EnumDecl {
            let values = is_mine.then(|| enumerators(node, sizes));
            found.extend(values.into_iter().flatten());
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
        if is_mine {
            found.push(Named { name, meaning, loc });
        }
    }
    found
}

/// The names that a macro may stand for.
struct Known<'a> {
    items: &'a BTreeMap<String, Item>,
    variants: BTreeSet<&'a str>,
}

impl<'a> Known<'a> {
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

    /// What a macro is that stands for `name`.
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
        CXCursor_MacroDefinition => macro_meaning(&body(cursor)?, numbers),
        CXCursor_VarDecl if is_constant_integer(cursor) => Some(Meaning::Number),
        _ => None,
    }
}

fn macro_meaning(body: &[Token], numbers: &BTreeSet<String>) -> Option<Meaning> {
    match body {
        [one] if one.kind == CXToken_Identifier && !numbers.contains(&one.text) => {
            Some(Meaning::Name(one.text.clone()))
        }
        literals if is_text(literals) => {
            let literals = literals.iter().map(|one| one.text.as_str());
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
    !body.is_empty() && tokens.all(|it| it.kind == CXToken_Literal && it.text.starts_with('"'))
}

/// Whether a token may stand in an integer expression.
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
        Some(hex) => hex.chars().all(|one| one.is_ascii_hexdigit()),
        None => !digits.is_empty() && digits.chars().all(|one| one.is_ascii_digit()),
    }
}

fn is_constant_integer(cursor: Cursor) -> bool {
    let ty = cursor.ty();
    let kind = ty.canonical().kind();
    ty.is_const() && (CXType_Bool..=CXType_Int128).contains(&kind)
}

/// An unnamed enumeration declares plain numbers.
fn enumerators(node: &Node, sizes: &Sizes) -> Vec<Named> {
    let values = node.inside.iter();
    values
        .filter(|child| child.kind() == CXCursor_EnumConstantDecl)
        .map(|child| (child.name(), child.enum_value()))
        .filter(|(name, _)| !sizes.contains(name))
        .map(|(name, value)| Named {
            name,
            meaning: Meaning::Known(value),
            loc: node.loc(),
        })
        .collect()
}

/// Names that headers seem to define as numbers or sizes.
pub fn guess(source: &Source) -> BTreeSet<String> {
    let paths = source
        .headers
        .iter()
        .map(|one| source.include_root.join(one));
    let texts = paths.filter_map(|path| std::fs::read_to_string(path).ok());
    texts.flat_map(|text| guess_in(&text)).collect()
}

fn guess_in(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let defines = text
        .lines()
        .filter_map(|line| line.strip_prefix("#define "));
    defines
        .filter_map(|define| {
            let define = define.trim_start();
            let end = define.find(|one: char| !one.is_alphanumeric() && one != '_')?;
            let (name, body) = define.split_at(end);
            (!body.starts_with('(') && may_be_number(body)).then(|| name.to_string())
        })
        .collect()
}

fn may_be_number(body: &str) -> bool {
    let body = body.split("//").next().unwrap_or_default().trim();
    let is_size = body.contains("_OFFSET_OF_END(") || body.contains("_STRUCT_SIZE(");
    is_size || is_integer(body)
}

/// What has clang evaluate the names that are macros.
pub fn appendix(names: &BTreeSet<String>) -> String {
    let names = names.iter();
    names
        .map(|name| format!("#ifdef {name}\nenum {{ {EVALUATED}{name} = ({name}) }};\n#endif\n"))
        .collect()
}

/// The values of the sizes and the numbers.
///
/// # Errors
/// Where the headers do not parse a second time, which they must if the first gave not all.
pub fn evaluate(
    source: &Source,
    unit: &Unit,
    nodes: &[Node],
    sizes: &Sizes,
    named: &[Named],
) -> Result<Values, ParseError> {
    let mut values = read(unit);
    values.extend(nodes.iter().flat_map(declared_values));
    let numbers = named
        .iter()
        .filter(|one| matches!(one.meaning, Meaning::Number))
        .map(|one| one.name.as_str());
    let missing: BTreeSet<&str> = sizes
        .symbols()
        .chain(numbers)
        .filter(|name| !values.contains_key(*name))
        .collect();
    if !missing.is_empty() {
        let lines = missing.iter();
        let appendix: String = lines
            .map(|name| format!("enum {{ {EVALUATED}{name} = ({name}) }};\n"))
            .collect();
        values.extend(read(&Unit::parse(source, &appendix)?));
    }
    Ok(values)
}

/// The values that a constant or an unnamed enumeration has by itself.
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
        CXCursor_EnumDecl => {
            let values = node.inside.iter();
            values
                .filter(|child| child.kind() == CXCursor_EnumConstantDecl)
                .map(|child| (child.name(), child.enum_value()))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn read(unit: &Unit) -> Values {
    let enums = unit
        .cursor()
        .children()
        .into_iter()
        .filter(|one| one.kind() == CXCursor_EnumDecl);
    let values = enums.flat_map(|one| one.children());
    values
        .filter_map(|value| {
            let name = value.name().strip_prefix(EVALUATED)?.to_string();
            Some((name, value.enum_value()))
        })
        .collect()
}

/// Adds the constants to the items.
pub fn attach(items: &mut BTreeMap<String, Item>, named: Vec<Named>, values: &Values) {
    let known = Known::new(items);
    let item = |one: &Named| match &one.meaning {
        Meaning::Number => Some(constant(Value::Int(*values.get(&one.name)?), &one.loc)),
        // An enumeration with a name has its values itself.
        Meaning::Known(_) if known.variants.contains(one.name.as_str()) => None,
        Meaning::Known(value) => Some(constant(Value::Int(*value), &one.loc)),
        Meaning::Text(text) => Some(constant(Value::Text(text.clone()), &one.loc)),
        Meaning::Name(other) => known.item(other, &one.loc),
    };
    let found: Vec<_> = named.iter().map(item).collect();
    for (Named { name, .. }, item) in named.into_iter().zip(found) {
        if let Some(item) = item {
            items.entry(name).or_insert(item);
        }
    }
}
