//! The names that items refer to. One of the APIs that are generated together must declare each of them: a
//! function with an unknown type is an error, and is never omitted silently.

use std::collections::BTreeSet;

use sp_ir::{Api, Field, Item, Signature, Type};

use super::catalog::Catalog;

/// Returns a message for each name that `api` refers to and no API declares.
pub fn undeclared(api: &Api, catalog: &Catalog<'_>) -> Vec<String> {
    let message = |name: &str, used: &str| {
        format!(
            "{name}: the API `{}` uses `{used}`, which no generated API declares",
            api.name
        )
    };
    let messages = api.items.iter().flat_map(|(name, item)| {
        let unknown = names(item)
            .into_iter()
            .filter(|used| catalog.item(used).is_none());
        unknown.map(|used| message(name, used)).collect::<Vec<_>>()
    });
    messages.collect()
}

/// Returns the names in the item's types.
pub fn names(item: &Item) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    match item {
        Item::Struct(it) => {
            add_fields(&it.fields, &mut names);
            names.extend(
                it.receiver
                    .iter()
                    .map(|receiver| receiver.value.owner.as_str()),
            );
        }
        Item::Union(it) => add_fields(&it.fields, &mut names),
        Item::Alias(it) => add_type(&it.ty, &mut names),
        Item::Callback(it) => add_signature(&it.signature, &mut names),
        Item::Function(it) if !it.inline => add_signature(&it.signature, &mut names),
        // The enumerator that a constant names is resolved when the constant is printed.
        Item::Enum(_) | Item::Handle(_) | Item::Function(_) | Item::Constant(_) => {}
    }
    names
}

fn add_fields<'a>(fields: &'a [Field], names: &mut BTreeSet<&'a str>) {
    fields.iter().for_each(|field| add_type(&field.ty, names));
}

fn add_signature<'a>(signature: &'a Signature, names: &mut BTreeSet<&'a str>) {
    signature
        .params
        .iter()
        .for_each(|param| add_type(&param.ty, names));
    add_type(&signature.ret, names);
}

fn add_type<'a>(ty: &'a Type, names: &mut BTreeSet<&'a str>) {
    match ty {
        Type::Named(name) => {
            names.insert(name);
        }
        Type::Pointer { pointee, .. } => add_type(pointee, names),
        Type::Array { elem, .. } => add_type(elem, names),
        Type::Function(signature) => add_signature(signature, names),
        _ => {}
    }
}
