//! The sizes of the `struct_size` protocol, in the four ways that headers spell them.
//!
//! Their names are irregular, so a size is bound to its struct by what it is computed from:
//! the struct and its last field. The value is clang's, never ours.

mod constant;
mod define;
mod enumerator;
mod traits;

use std::collections::{BTreeMap, BTreeSet};

use clang_sys::CXCursor_EnumDecl;
use sp_ir::{Item, StructSize};

use super::constant::Values;
use super::cursor::{Cursor, Token};
use super::decl::{Node, Wanted};

/// One definition of one struct's size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelling {
    /// The macro, constant or enumerator.
    pub symbol: String,
    /// The struct.
    pub structure: String,
    /// Its last field.
    pub last_field: String,
}

/// The sizes that a set of headers defines.
#[derive(Debug, Default)]
pub struct Sizes {
    found: Vec<Spelling>,
    symbols: BTreeSet<String>,
}

impl Sizes {
    /// Whether `name` is a size's.
    pub fn contains(&self, name: &str) -> bool {
        self.symbols.contains(name)
    }

    /// What there is to evaluate.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        self.symbols.iter().map(String::as_str)
    }
}

/// Every way to spell a size; a new one is one file and one line here.
const READERS: [fn(Cursor) -> Option<Spelling>; 4] =
    [define::read, constant::read, enumerator::read, traits::read];

/// Finds the sizes in the wanted headers.
pub fn find(nodes: &[Node]) -> Sizes {
    let nodes = nodes.iter().filter(|node| node.wanted == Wanted::Items);
    let found: Vec<Spelling> = nodes
        .flat_map(with_values)
        .filter_map(|cursor| READERS.iter().find_map(|read| read(cursor)))
        .collect();
    let symbols = found.iter().map(|one| one.symbol.clone()).collect();
    Sizes { found, symbols }
}

/// A declaration and, where it is an enumeration, its values.
fn with_values<'u>(node: &Node<'u>) -> impl Iterator<Item = Cursor<'u>> {
    let values = match node.cursor.kind() {
        CXCursor_EnumDecl => &*node.inside,
        _ => &[],
    };
    std::iter::once(node.cursor).chain(values.iter().copied())
}

/// Gives each struct its size.
pub fn attach(items: &mut BTreeMap<String, Item>, sizes: &Sizes, values: &Values) {
    for size in &sizes.found {
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

/// The two arguments of `<something>_OFFSET_OF_END(S, last)` or `<something>_STRUCT_SIZE(S, last)`
/// among `tokens`.
fn end_of(tokens: &[Token]) -> Option<(String, String)> {
    let computes = |text: &str| text.ends_with("_OFFSET_OF_END") || text.ends_with("_STRUCT_SIZE");
    let is_use = |pair: &[Token]| computes(&pair[0].text) && pair[1].text == "(";
    let start = tokens.windows(2).position(is_use)?;
    two_arguments(&tokens[start + 1..])
}

/// `(a, b)` at the start of `tokens`.
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
