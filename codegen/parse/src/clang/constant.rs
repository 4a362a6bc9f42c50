//! Macros, constants and unnamed enumerations as items. A macro whose body is a name has that name as its value.

use std::collections::{BTreeMap, BTreeSet};

use clang_sys::*;
use sp_ir::{Alias, Constant, Item, Loc, Type, Value};

use super::cursor::{Cursor, Token};
use super::evaluate::{Values, is_constant_integer};
use super::literal;
use super::node::{Node, Selection};
use super::struct_size::Sizes;

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
    /// The name of a declaration.
    Name(String),
}

impl NamedConstant {
    /// Returns the name and the location.
    pub fn name_and_loc(&self) -> (&String, &Loc) {
        (&self.name, &self.loc)
    }

    /// Returns the name if clang has to evaluate it.
    pub fn evaluated_name(&self) -> Option<&str> {
        matches!(self.meaning, Meaning::Number).then_some(&*self.name)
    }
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

/// The declared names that may be the body of a macro.
struct DeclaredNames<'a> {
    items: &'a BTreeMap<String, Item>,
    variants: BTreeSet<&'a str>,
}

impl<'a> DeclaredNames<'a> {
    fn new(items: &'a BTreeMap<String, Item>) -> Self {
        let enums = items.values().filter_map(Item::as_enum);
        let variants = enums.flat_map(|item| &item.variants);
        let variants = variants.map(|it| it.name.as_str()).collect();
        Self { items, variants }
    }

    /// Returns the item for a macro whose body is `name`, or `None` if no declaration has the name.
    fn item(&self, name: &str, loc: &Loc) -> Option<Item> {
        if self.variants.contains(name) {
            return Some(constant(Value::Name(name.into()), loc));
        }
        Some(match self.items.get(name)? {
            Item::Function(_) | Item::Constant(_) => constant(Value::Name(name.into()), loc),
            _ => Item::Alias(Alias::new(Type::Named(name.into()), loc.clone())),
        })
    }
}

fn constant(value: Value, loc: &Loc) -> Item {
    Item::Constant(Constant::new(value, loc.clone()))
}

fn meaning(cursor: Cursor, numbers: &BTreeSet<String>) -> Option<Meaning> {
    match cursor.kind() {
        CXCursor_MacroDefinition => macro_meaning(&cursor.macro_body()?, numbers),
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
        CXToken_Literal => literal::is_integer(&token.text),
        CXToken_Identifier => numbers.contains(&token.text),
        CXToken_Punctuation => "+-*/%|&^~<<>>()".contains(token.text.as_str()),
        _ => false,
    }
}

/// Returns the enumerators as constants. Those of a named enumeration are dropped later, by `attach`.
fn constants_of_enum(node: &Node, sizes: &Sizes) -> Vec<NamedConstant> {
    node.enumerators()
        .filter(|(name, _)| !sizes.contains(name))
        .map(|(name, value)| NamedConstant {
            name,
            meaning: Meaning::Known(value),
            loc: node.loc(),
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
