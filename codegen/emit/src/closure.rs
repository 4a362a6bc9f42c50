//! What the items of an API refer to must be declared by one of the APIs that are generated together:
//! a function whose types are unknown is an error, never left out in silence.

use std::collections::BTreeSet;

use sp_ir::{Api, Field, Item, Signature, Type};

use super::catalog::Catalog;

/// One line for each name that `api` uses and nobody declares.
pub fn undeclared(api: &Api, catalog: &Catalog<'_>) -> Vec<String> {
    let line = |name: &str, used: &str| {
        format!(
            "{}: `{name}` uses `{used}`, which no generated API declares",
            api.name
        )
    };
    let uses = api.items.iter().flat_map(|(name, item)| {
        let unknown = names(item)
            .into_iter()
            .filter(|used| catalog.item(used).is_none());
        unknown.map(|used| line(name, used)).collect::<Vec<_>>()
    });
    uses.collect()
}

/// The names that the item's types mention.
pub fn names(item: &Item) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    match item {
        Item::Struct(it) => {
            of_fields(&it.fields, &mut names);
            names.extend(
                it.receiver
                    .iter()
                    .map(|receiver| receiver.value.owner.as_str()),
            );
        }
        Item::Union(it) => of_fields(&it.fields, &mut names),
        Item::Alias(it) => of_type(&it.ty, &mut names),
        Item::Callback(it) => of_signature(&it.signature, &mut names),
        Item::Function(it) if !it.inline => of_signature(&it.signature, &mut names),
        // A constant's name is looked for where it is printed.
        Item::Enum(_) | Item::Handle(_) | Item::Function(_) | Item::Constant(_) => {}
    }
    names
}

fn of_fields<'a>(fields: &'a [Field], names: &mut BTreeSet<&'a str>) {
    fields.iter().for_each(|field| of_type(&field.ty, names));
}

fn of_signature<'a>(signature: &'a Signature, names: &mut BTreeSet<&'a str>) {
    signature
        .params
        .iter()
        .for_each(|param| of_type(&param.ty, names));
    of_type(&signature.ret, names);
}

fn of_type<'a>(ty: &'a Type, names: &mut BTreeSet<&'a str>) {
    match ty {
        Type::Named(name) => {
            names.insert(name);
        }
        Type::Pointer { pointee, .. } => of_type(pointee, names),
        Type::Array { elem, .. } => of_type(elem, names),
        Type::Function(signature) => of_signature(signature, names),
        _ => {}
    }
}
