//! In which order an API's types are declared, and which headers must come before: C wants a type
//! complete where it is held by value, and any other name than a struct's declared where it is used.

use std::collections::BTreeSet;

use sp_ir::{Field, Item, Signature, Type};

use super::super::closure;
use super::forms::{Layouts, versioned};
use crate::context::Context;

/// The names of the API that are more than a forward declaration, each after those that it needs.
pub fn of<'a>(context: &Context<'a>) -> Vec<&'a str> {
    let (mut done, mut order) = (BTreeSet::new(), Vec::new());
    for name in context.api.items.keys() {
        visit(name, context, &mut done, &mut order);
    }
    order
}

fn visit<'a>(
    name: &'a str,
    context: &Context<'a>,
    done: &mut BTreeSet<&'a str>,
    order: &mut Vec<&'a str>,
) {
    let Some((name, item)) = context.api.items.get_key_value(name) else {
        return;
    };
    if !done.insert(name) {
        return;
    }
    for needed in needs(name, item, context) {
        visit(needed, context, done, order);
    }
    if matches!(
        item,
        Item::Struct(_) | Item::Union(_) | Item::Alias(_) | Item::Callback(_)
    ) {
        order.push(name);
    }
}

/// The APIs whose headers this one's needs: for a name that must be declared before it is used, and
/// for the inside of a struct that is no host's.
pub fn imports<'a>(context: &Context<'a>) -> BTreeSet<&'a str> {
    let items = context.api.items.iter();
    let needed = items.flat_map(|(name, item)| needs(name, item, context));
    let is_open = |name: &&str| match context.catalog.item(name) {
        Some(item @ Item::Struct(_)) => versioned(item).is_none(),
        item => matches!(item, Some(Item::Union(_))),
    };
    let opened = borrowed(context).into_iter().filter(is_open);
    let homes = needed
        .chain(opened)
        .filter_map(|name| context.catalog.home(name));
    homes.filter(|home| *home != context.api.name).collect()
}

/// The names of other APIs that a forward declaration is enough for.
pub fn borrowed<'a>(context: &Context<'a>) -> BTreeSet<&'a str> {
    let items = context.api.items.values();
    let used = items.flat_map(closure::names);
    let foreign = used.filter(|name| context.catalog.home(name) != Some(&context.api.name));
    let forward = foreign.filter(|name| context.catalog.item(name).is_some_and(is_forward));
    forward.collect()
}

/// Whether a forward declaration is enough to point to it.
pub fn is_forward(item: &Item) -> bool {
    matches!(item, Item::Handle(_) | Item::Struct(_) | Item::Union(_))
}

/// What must stand before the item and its older forms.
fn needs<'a>(name: &'a str, item: &'a Item, context: &Context<'a>) -> BTreeSet<&'a str> {
    let mut needs = Needs {
        context,
        names: BTreeSet::new(),
    };
    match item {
        Item::Struct(it) => needs.fields(&it.fields),
        Item::Union(it) => needs.fields(&it.fields),
        Item::Alias(it) => needs.see(&it.ty, false),
        Item::Callback(it) => needs.signature(&it.signature),
        Item::Function(it) if !it.inline => needs.signature(&it.signature),
        _ => {}
    }
    if let Some(layouts) = Layouts::of(name, context) {
        layouts
            .forms
            .iter()
            .for_each(|form| needs.fields(&form.record.fields));
    }
    let olds = context
        .old
        .into_iter()
        .flat_map(|modules| modules.values().flatten());
    for old in olds.filter(|old| old.name == name) {
        match old.item {
            Item::Struct(it) => needs.fields(&it.fields),
            Item::Union(it) => needs.fields(&it.fields),
            _ => {}
        }
    }
    needs.names
}

struct Needs<'s, 'a> {
    context: &'s Context<'a>,
    names: BTreeSet<&'a str>,
}

impl<'a> Needs<'_, 'a> {
    fn fields(&mut self, fields: &'a [Field]) {
        fields.iter().for_each(|field| self.see(&field.ty, true));
    }

    /// A function may be declared with a type that is complete only where it is called.
    fn signature(&mut self, signature: &'a Signature) {
        let params = signature.params.iter().map(|param| &param.ty);
        params
            .chain([&signature.ret])
            .for_each(|ty| self.see(ty, false));
    }

    /// `held` where a value of the type is.
    fn see(&mut self, ty: &'a Type, held: bool) {
        match ty {
            Type::Named(name) => {
                let is_forward = self.context.catalog.item(name).is_some_and(is_forward);
                if held || !is_forward {
                    self.names.insert(name);
                }
            }
            Type::Pointer { pointee, .. } => self.see(pointee, false),
            Type::Array { elem, .. } => self.see(elem, held),
            Type::Function(inner) => self.signature(inner),
            _ => {}
        }
    }
}
