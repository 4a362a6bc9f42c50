//! The C type of each layout of a struct: `SP_Platform_newest` for the newest one, and
//! `SP_Platform_v2_5` for an older one, after the first release that has it. A struct without a
//! `struct_size` keeps its own name.

use sp_ir::{Field, Item, Release, Struct, Type};

use crate::model::context::Context;
use crate::model::offsets::{self, SizedLayout};

/// The layouts of a struct that begins with a `struct_size`, oldest first.
pub struct StructLayouts<'a> {
    /// The struct's C name.
    pub name: &'a str,
    /// The struct in the newest release.
    pub item: &'a Struct,
    /// Its layouts over all releases; at least one.
    pub layouts: Vec<SizedLayout<'a>>,
}

impl<'a> StructLayouts<'a> {
    /// Returns the layouts of `name`, or `None` if it is not a struct with a `struct_size` of its own.
    pub fn find(name: &'a str, context: &Context<'a>) -> Option<Self> {
        let item = as_versioned(context.catalog.item(name)?)?;
        let layouts = offsets::sized_layouts(&context.timeline.history, name)?;
        (!layouts.is_empty()).then_some(Self {
            name,
            item,
            layouts,
        })
    }

    /// Returns the C type of the layout at `index`.
    pub fn type_name(&self, index: usize) -> String {
        match index + 1 == self.layouts.len() {
            true => newest_name(self.name),
            false => older_name(self.name, self.layouts[index].first),
        }
    }

    /// Returns true if all layouts have the field at one offset.
    pub fn has_fixed_offset(&self, field: &Field) -> bool {
        let offset = |layout: &SizedLayout<'_>| {
            let found = layout.fields.get(field.name.as_str());
            found.map(|it| it.offset)
        };
        let mut layouts = self.layouts.iter();
        layouts.all(|layout| offset(layout) == Some(field.offset))
    }
}

/// Returns the struct, or `None` if the item is not a struct that begins with `struct_size`.
pub fn as_versioned(item: &Item) -> Option<&Struct> {
    item.as_struct().filter(|item| item.is_versioned())
}

/// Returns `SP_Platform_newest`.
pub fn newest_name(name: &str) -> String {
    format!("{name}_newest")
}

/// Returns `SP_Platform_v2_5`.
pub fn older_name(name: &str, first: Release) -> String {
    format!("{name}_v{}_{}", first.major, first.minor)
}

/// Replaces the structs that `ty` embeds by their layout types in `release`, or in the newest release if it is
/// `None`.
pub fn by_value_type(ty: &Type, context: &Context<'_>, release: Option<Release>) -> Type {
    match ty {
        Type::Named(name) => Type::Named(layout_name(name, context, release)),
        Type::Array { elem, len } => Type::array(by_value_type(elem, context, release), *len),
        other => other.clone(),
    }
}

fn layout_name(name: &str, context: &Context<'_>, release: Option<Release>) -> String {
    let is_versioned = context.catalog.item(name).and_then(as_versioned).is_some();
    let older = release.and_then(|release| older_layout_name(name, context, release));
    match (older, is_versioned) {
        (Some(older), _) => older,
        (None, true) => newest_name(name),
        (None, false) => name.to_owned(),
    }
}

/// Returns the type of an older layout of a struct or union, if `release` has one.
fn older_layout_name(name: &str, context: &Context<'_>, release: Release) -> Option<String> {
    let api = context.catalog.declaring_api(name)?;
    let older = context.all_older.get(api)?.values().flatten();
    let mut records = older.filter(|it| matches!(it.item, Item::Struct(_) | Item::Union(_)));
    let found = records.find(|it| it.name == name && (it.span.0..=it.span.1).contains(&release))?;
    Some(older_name(name, found.span.0))
}
