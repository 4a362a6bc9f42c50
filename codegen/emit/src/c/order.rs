//! The order of an API's type declarations, and the headers that it includes. C requires a complete type
//! for an embedded struct, and a declaration before the use of any name other than a struct's.

use std::collections::BTreeSet;

use sp_ir::{Field, Item, Signature, Type};

use super::layouts::{StructLayouts, as_versioned};
use crate::model::context::Context;
use crate::model::references;

/// Returns the names of the API that need more than a forward declaration, each after those that it needs.
pub fn declaration_order<'a>(context: &Context<'a>) -> Vec<&'a str> {
    let (mut visited, mut order) = (BTreeSet::new(), Vec::new());
    for name in context.api.items.keys() {
        visit(name, context, &mut visited, &mut order);
    }
    order
}

fn visit<'a>(
    name: &'a str,
    context: &Context<'a>,
    visited: &mut BTreeSet<&'a str>,
    order: &mut Vec<&'a str>,
) {
    let Some((name, item)) = context.api.items.get_key_value(name) else {
        return;
    };
    if !visited.insert(name) {
        return;
    }
    for dependency in dependencies(name, item, context) {
        visit(dependency, context, visited, order);
    }
    if matches!(
        item,
        Item::Struct(_) | Item::Union(_) | Item::Alias(_) | Item::Callback(_)
    ) {
        order.push(name);
    }
}

/// Returns the APIs whose headers the API's header includes: for names that must be declared before their use,
/// and for structs without a `struct_size`, whose fields a plugin accesses.
pub fn imports<'a>(context: &Context<'a>) -> BTreeSet<&'a str> {
    let items = context.api.items.iter();
    let needed = items.flat_map(|(name, item)| dependencies(name, item, context));
    let has_public_fields = |name: &&str| match context.catalog.item(name) {
        Some(item @ Item::Struct(_)) => as_versioned(item).is_none(),
        item => matches!(item, Some(Item::Union(_))),
    };
    let accessed = foreign_forwards(context)
        .into_iter()
        .filter(has_public_fields);
    let apis = needed
        .chain(accessed)
        .filter_map(|name| context.catalog.declaring_api(name));
    apis.filter(|api| *api != context.api.name).collect()
}

/// Returns the names of other APIs for which a forward declaration is sufficient.
pub fn foreign_forwards<'a>(context: &Context<'a>) -> BTreeSet<&'a str> {
    let items = context.api.items.values();
    let used = items.flat_map(references::names);
    let foreign =
        used.filter(|name| context.catalog.declaring_api(name) != Some(&context.api.name));
    let forward = foreign.filter(|name| context.catalog.item(name).is_some_and(is_forward));
    forward.collect()
}

/// Returns true if a pointer to the item needs only a forward declaration.
pub fn is_forward(item: &Item) -> bool {
    matches!(item, Item::Handle(_) | Item::Struct(_) | Item::Union(_))
}

/// Returns the names that must be declared before the item and its older layouts.
fn dependencies<'a>(name: &'a str, item: &'a Item, context: &Context<'a>) -> BTreeSet<&'a str> {
    let mut dependencies = Dependencies {
        context,
        names: BTreeSet::new(),
    };
    match item {
        Item::Struct(it) => dependencies.add_fields(&it.fields),
        Item::Union(it) => dependencies.add_fields(&it.fields),
        Item::Alias(it) => dependencies.add_type(&it.ty, false),
        Item::Callback(it) => dependencies.add_signature(&it.signature),
        Item::Function(it) if !it.inline => dependencies.add_signature(&it.signature),
        _ => {}
    }
    if let Some(layouts) = StructLayouts::find(name, context) {
        for layout in &layouts.layouts {
            dependencies.add_fields(&layout.record.fields);
        }
    }
    for older in context.older_declarations().filter(|it| it.name == name) {
        match older.item {
            Item::Struct(it) => dependencies.add_fields(&it.fields),
            Item::Union(it) => dependencies.add_fields(&it.fields),
            _ => {}
        }
    }
    dependencies.names
}

struct Dependencies<'s, 'a> {
    context: &'s Context<'a>,
    names: BTreeSet<&'a str>,
}

impl<'a> Dependencies<'_, 'a> {
    fn add_fields(&mut self, fields: &'a [Field]) {
        for field in fields {
            self.add_type(&field.ty, true);
        }
    }

    /// A function's declaration may name an incomplete type, even by value.
    fn add_signature(&mut self, signature: &'a Signature) {
        let params = signature.params.iter().map(|param| &param.ty);
        params
            .chain([&signature.ret])
            .for_each(|ty| self.add_type(ty, false));
    }

    /// Adds the names of `ty`; `is_embedded` is true if it must be complete.
    fn add_type(&mut self, ty: &'a Type, is_embedded: bool) {
        match ty {
            Type::Named(name) => {
                let is_forward = self.context.catalog.item(name).is_some_and(is_forward);
                if is_embedded || !is_forward {
                    self.names.insert(name);
                }
            }
            Type::Pointer { pointee, .. } => self.add_type(pointee, false),
            Type::Array { elem, .. } => self.add_type(elem, is_embedded),
            Type::Function(signature) => self.add_signature(signature),
            _ => {}
        }
    }
}
