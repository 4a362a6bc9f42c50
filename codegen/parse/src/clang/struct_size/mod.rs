//! The struct sizes that headers define for the `struct_size` protocol, in four forms.
//!
//! Their names are irregular, so a size is assigned to its struct by the arguments it is computed from: the struct and
//! its last field. The value is computed by clang.

mod constant;
mod define;
mod enumerator;
mod traits;

use std::collections::{BTreeMap, BTreeSet};

use clang_sys::CXCursor_EnumDecl;
use sp_ir::{Item, StructSize};

use super::cursor::{Cursor, Token};
use super::evaluate::Values;
use super::node::{Node, Selection};

/// The definition of a struct's size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeDefinition {
    /// The macro, constant or enumerator.
    pub symbol: String,
    /// The struct.
    pub structure: String,
    /// The struct's last field.
    pub last_field: String,
}

/// The size definitions in a set of headers.
#[derive(Debug, Default)]
pub struct Sizes {
    definitions: Vec<SizeDefinition>,
    symbols: BTreeSet<String>,
}

impl Sizes {
    /// Returns true if `name` is the name of a size.
    pub fn contains(&self, name: &str) -> bool {
        self.symbols.contains(name)
    }

    /// Returns the names of the sizes.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        self.symbols.iter().map(String::as_str)
    }
}

/// The readers of all forms. A new form is a file, and an entry here.
const READERS: [fn(Cursor) -> Option<SizeDefinition>; 4] =
    [define::read, constant::read, enumerator::read, traits::read];

/// Finds the sizes in the selected headers.
pub fn find(nodes: &[Node]) -> Sizes {
    let nodes = nodes.iter().filter(|node| node.selection == Selection::All);
    let definitions: Vec<SizeDefinition> = nodes
        .flat_map(with_enumerators)
        .filter_map(|cursor| READERS.iter().find_map(|read| read(cursor)))
        .collect();
    let symbols = definitions.iter().map(|size| size.symbol.clone()).collect();
    Sizes {
        definitions,
        symbols,
    }
}

/// Returns a declaration and, if it is an enumeration, its enumerators.
fn with_enumerators<'u>(node: &Node<'u>) -> impl Iterator<Item = Cursor<'u>> {
    let enumerators = match node.cursor.kind() {
        CXCursor_EnumDecl => &*node.children,
        _ => &[],
    };
    std::iter::once(node.cursor).chain(enumerators.iter().copied())
}

/// Sets the size of each struct.
pub fn attach(items: &mut BTreeMap<String, Item>, sizes: &Sizes, values: &Values) {
    for size in &sizes.definitions {
        let value = values
            .get(&size.symbol)
            .and_then(|value| u64::try_from(*value).ok());
        if let (Some(Item::Struct(item)), Some(value)) = (items.get_mut(&size.structure), value) {
            item.struct_size = Some(StructSize {
                symbol: size.symbol.clone(),
                last_field: size.last_field.clone(),
                value,
            });
        }
    }
}

/// Reads the size that a constant or an enumerator defines.
fn read_declaration(cursor: Cursor) -> Option<SizeDefinition> {
    let (symbol, tokens) = (cursor.name(), cursor.tokens());
    // A declaration that a macro expands to has the tokens of the macro's use, which `traits` reads.
    if !tokens.iter().any(|token| token.text == symbol) {
        return None;
    }
    let (structure, last_field) = size_arguments(&tokens)?;
    Some(SizeDefinition {
        symbol,
        structure,
        last_field,
    })
}

/// Returns the arguments of the first `..._OFFSET_OF_END(S, last)` or `..._STRUCT_SIZE(S, last)` in `tokens`.
fn size_arguments(tokens: &[Token]) -> Option<(String, String)> {
    let is_size = |text: &str| text.ends_with("_OFFSET_OF_END") || text.ends_with("_STRUCT_SIZE");
    let is_call = |pair: &[Token]| is_size(&pair[0].text) && pair[1].text == "(";
    let start = tokens.windows(2).position(is_call)?;
    two_arguments(&tokens[start + 1..])
}

/// Returns the arguments of `(a, b)` at the start of `tokens`.
fn two_arguments(tokens: &[Token]) -> Option<(String, String)> {
    match tokens {
        [open, first, comma, second, close, ..]
            if open.text == "(" && comma.text == "," && close.text == ")" =>
        {
            Some((first.text.clone(), second.text.clone()))
        }
        _ => None,
    }
}
