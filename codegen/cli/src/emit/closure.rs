//! What the items of an API refer to: every name must be declared in one of the APIs that are
//! generated together, and those of other APIs become imports.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Api, Item, Signature, Type, Value};

use super::catalog::Catalog;

/// What `api` takes from other APIs: API to names. `problems` gets names that nobody declares.
pub fn imports<'a>(
    api: &'a Api,
    catalog: &Catalog<'a>,
    problems: &mut Vec<String>,
) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, item) in &api.items {
        for used in names(item, catalog) {
            match catalog.home(used) {
                Some(home) if home == api.name => {}
                Some(home) => {
                    imports.entry(home).or_default().insert(used);
                }
                None => problems.push(format!(
                    "{}: `{name}` uses `{used}`, which no generated API declares",
                    api.name
                )),
            }
        }
    }
    imports
}

/// The names that the Rust code for `item` mentions.
fn names<'a>(item: &'a Item, catalog: &Catalog<'a>) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    match item {
        Item::Struct(it) => it
            .fields
            .iter()
            .for_each(|field| of_type(&field.ty, &mut names)),
        Item::Union(it) => it
            .fields
            .iter()
            .for_each(|field| of_type(&field.ty, &mut names)),
        Item::Alias(it) => of_type(&it.ty, &mut names),
        Item::Callback(it) => of_signature(&it.signature, &mut names),
        Item::Function(it) if !it.inline => of_signature(&it.signature, &mut names),
        Item::Constant(it) => {
            if let Value::Name(other) = &it.value {
                names.extend(catalog.enumeration(other));
            }
        }
        Item::Enum(_) | Item::Handle(_) | Item::Function(_) => {}
    }
    if let Item::Struct(it) = item {
        names.extend(
            it.receiver
                .iter()
                .map(|receiver| receiver.value.owner.as_str()),
        );
        let neutrals = it.fields.iter().filter_map(|field| field.neutral.as_ref());
        names.extend(neutrals.filter_map(|it| first_name(&it.value, catalog)));
    }
    names
}

/// The declared name that an expression such as `SE_EventStatus::SE_EVENT_ERROR` begins with.
fn first_name<'a>(expression: &'a str, catalog: &Catalog<'a>) -> Option<&'a str> {
    let first = expression
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()?;
    catalog.home(first).map(|_| first)
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
