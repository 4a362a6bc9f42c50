//! The types that are bound: those of the own headers, and those of other headers that they use.

use std::collections::BTreeSet;

use sp_ir::{Callback, Item, Items, Loc};

use super::Function;

/// The names of types in use.
#[derive(Debug, Default)]
pub struct Reachable {
    /// The names of items.
    pub names: BTreeSet<String>,
    /// The names without item.
    pub missing: BTreeSet<String>,
}

/// Returns the names that the own items and the bound functions use, directly or not, and those that `further` names use. A
/// function that is left out uses none.
pub fn reachable(
    items: &Items,
    functions: &[Function],
    is_own: &dyn Fn(&Loc) -> bool,
    further: impl Iterator<Item = String>,
) -> Reachable {
    let mut found = Reachable::default();
    let own = items.iter().filter(|(_, item)| is_own(item.loc()));
    let bound = functions.iter().flat_map(used_types);
    let pending = own.map(|(name, _)| name.clone()).chain(bound);
    let mut pending: Vec<String> = pending.chain(further).collect();
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

/// Returns the types of a function's parameters and result.
fn used_types(function: &Function) -> impl Iterator<Item = String> {
    let (signature, loc) = (function.signature.clone(), function.loc.clone());
    let callback = Item::Callback(Callback::new(signature, loc));
    callback.used_types().into_keys()
}
