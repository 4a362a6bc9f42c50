//! Macros and constants with a value: clang evaluates the numbers, names stay names.
//!
//! For each expression the second parse gets a line `enum { spgen_eval_X = (X) };`, and the value
//! is read off the enumerator. It works in C and in C++, and for every spelling.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clang_sys::*;
use sp_ir::{Alias, Constant, Item, Loc, Type, Value};

use super::Declarations;
use super::cursor::{Cursor, Token};
use super::decl::{flatten, loc};
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
    Name(String),
    Type(String),
}

/// The tokens of a macro's body; nothing where it takes arguments. Clang forgets that of a macro that
/// is undefined later on, so the parenthesis decides: it stands right behind the name.
pub fn body(cursor: Cursor) -> Option<Vec<Token>> {
    if cursor.kind() != CXCursor_MacroDefinition || cursor.is_function_like() {
        return None;
    }
    let mut tokens = cursor.tokens();
    let takes_arguments = match tokens.as_slice() {
        [name, next, ..] => next.text == "(" && next.start.offset == name.end.offset,
        _ => false,
    };
    tokens.retain(|token| token.kind != CXToken_Comment);
    (!takes_arguments && !tokens.is_empty()).then(|| tokens.split_off(1))
}

/// Finds the constants of the wanted headers, sizes aside.
pub fn find(
    unit: &Unit,
    wanted: &dyn Fn(&str) -> bool,
    sizes: &Sizes,
    declared: &Declarations,
) -> Vec<Named> {
    let names = Known::new(&declared.items);
    let mut numbers = BTreeSet::new();
    let mut found = Vec::new();
    for cursor in flatten(unit.cursor()) {
        let Some(loc) = loc(unit, cursor).filter(|loc| wanted(&loc.file)) else {
            continue;
        };
        if cursor.kind() == CXCursor_EnumDecl {
            found.extend(enumerators(cursor, &loc, sizes, &names));
            continue;
        }
        let name = cursor.name();
        let Some(meaning) = meaning(cursor, &names, &numbers).filter(|_| !sizes.contains(&name))
        else {
            continue;
        };
        if matches!(meaning, Meaning::Number) {
            numbers.insert(name.clone());
        }
        found.push(Named { name, meaning, loc });
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

    fn meaning(&self, name: &str) -> Option<Meaning> {
        if self.variants.contains(name) {
            return Some(Meaning::Name(name.into()));
        }
        match self.items.get(name)? {
            Item::Function(_) | Item::Constant(_) => Some(Meaning::Name(name.into())),
            _ => Some(Meaning::Type(name.into())),
        }
    }
}

fn meaning(cursor: Cursor, names: &Known, numbers: &BTreeSet<String>) -> Option<Meaning> {
    match cursor.kind() {
        CXCursor_MacroDefinition => macro_meaning(&body(cursor)?, names, numbers),
        CXCursor_VarDecl if is_constant_integer(cursor) => Some(Meaning::Number),
        _ => None,
    }
}

fn macro_meaning(body: &[Token], names: &Known, numbers: &BTreeSet<String>) -> Option<Meaning> {
    match body {
        [one] if one.kind == CXToken_Identifier && !numbers.contains(&one.text) => {
            names.meaning(&one.text)
        }
        [one] if one.text.starts_with('"') => {
            Some(Meaning::Text(one.text.trim_matches('"').to_string()))
        }
        body => {
            let numeric = !body.is_empty() && body.iter().all(|token| is_numeric(token, numbers));
            numeric.then_some(Meaning::Number)
        }
    }
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
fn enumerators(cursor: Cursor, loc: &Loc, sizes: &Sizes, names: &Known) -> Vec<Named> {
    let values = cursor.children().into_iter();
    values
        .filter(|child| child.kind() == CXCursor_EnumConstantDecl)
        .filter(|child| !names.variants.contains(child.name().as_str()))
        .filter(|child| !sizes.contains(&child.name()))
        .map(|child| Named {
            name: child.name(),
            meaning: Meaning::Known(child.enum_value()),
            loc: loc.clone(),
        })
        .collect()
}

/// Has clang evaluate the sizes and the numbers.
///
/// # Errors
/// Where the headers do not parse so.
pub fn evaluate(source: &Source, sizes: &Sizes, named: &[Named]) -> Result<Values, ParseError> {
    let numbers = named
        .iter()
        .filter(|one| matches!(one.meaning, Meaning::Number))
        .map(|one| one.name.as_str());
    let names: BTreeSet<&str> = sizes.symbols().chain(numbers).collect();
    let appendix: String = names.iter().map(|name| evaluation(name)).collect();
    let unit = Unit::parse(source, &appendix)?;
    Ok(read(&unit))
}

fn evaluation(name: &str) -> String {
    format!("enum {{ {EVALUATED}{name} = ({name}) }};\n")
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
    for Named { name, meaning, loc } in named {
        let value = match meaning {
            Meaning::Number => values.get(&name).copied().map(Value::Int),
            Meaning::Known(value) => Some(Value::Int(value)),
            Meaning::Text(text) => Some(Value::Text(text)),
            Meaning::Name(other) => Some(Value::Name(other)),
            Meaning::Type(other) => {
                let ty = Type::Named(other);
                items
                    .entry(name)
                    .or_insert(Item::Alias(Alias { doc: None, ty, loc }));
                continue;
            }
        };
        if let Some(value) = value {
            items.entry(name).or_insert(Item::Constant(Constant {
                doc: None,
                value,
                loc,
            }));
        }
    }
}
