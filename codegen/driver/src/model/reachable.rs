//! The types that are bound: those of the own headers, and those of other headers that they use.

use std::collections::BTreeSet;

use sp_ir::{Item, Items, Loc};

use super::Function;

/// The names of types in use.
#[derive(Debug, Default)]
pub struct Reachable {
    /// The names of items.
    pub names: BTreeSet<String>,
    /// The names without item.
    pub missing: BTreeSet<String>,
}

/// Returns the names that the own items and the bound functions use, directly or not. A function that is left out uses
/// none.
pub fn reachable(
    items: &Items,
    functions: &[Function],
    is_own: &dyn Fn(&Loc) -> bool,
) -> Reachable {
    let mut found = Reachable::default();
    let own = items.iter().filter(|(_, item)| is_own(item.loc()));
    let own_types = own.filter(|(_, item)| !matches!(item, Item::Function(_)));
    let bound = functions.iter().map(|function| &function.name);
    let mut pending: Vec<String> = own_types
        .map(|(name, _)| name)
        .chain(bound)
        .cloned()
        .collect();
    while let Some(name) = pending.pop() {
        match items.get(&name) {
            None => {
                found.missing.insert(name);
            }
            Some(item) => {
                if found.names.insert(name) {
                    pending.extend(item.used_types().into_keys());
                }
            }
        }
    }
    found
}
