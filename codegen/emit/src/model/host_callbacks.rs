//! The callbacks that the host implements: arguments of a slot, such as the function of `host_callback`. A callback that is
//! a field of a struct cannot be told from a slot by its type.

use std::collections::BTreeSet;

use sp_ir::{Field, Item, Items, Type};

/// Returns the callback types that are parameters of a table's slots.
pub fn host_callbacks(items: &Items) -> BTreeSet<&str> {
    let tables = items.values().filter_map(Item::as_struct);
    tables
        .flat_map(|item| &item.fields)
        .flat_map(parameter_types)
        .filter(|name| matches!(items.get(*name), Some(Item::Callback(_))))
        .collect()
}

/// Returns the names of the types of a slot's parameters.
fn parameter_types(slot: &Field) -> impl Iterator<Item = &str> {
    let signature = match &slot.ty {
        Type::Function(signature) => Some(signature),
        _ => None,
    };
    let params = signature.into_iter().flat_map(|it| &it.params);
    params.filter_map(|param| match &param.ty {
        Type::Named(name) => Some(name.as_str()),
        _ => None,
    })
}
