//! What each layout of a struct is called in C: the newest that has a `struct_size` is
//! `SP_Platform_newest`, an older one `SP_Platform_v2_5`, after the release that it began with. A
//! struct without a `struct_size` keeps its own name.

use sp_expand::structure::is_versioned;
use sp_ir::{Field, Item, Struct, Type};

use super::super::places::{self, Form};
use crate::context::Context;
use crate::minor::Minor;

/// The layouts of a struct, oldest first.
pub struct Layouts<'a> {
    /// The struct's own name.
    pub name: &'a str,
    /// As the newest release has it.
    pub item: &'a Struct,
    /// What the history tells; at least one.
    pub forms: Vec<Form<'a>>,
}

impl<'a> Layouts<'a> {
    /// Of a struct with a `struct_size` of its own.
    pub fn of(name: &'a str, context: &Context<'a>) -> Option<Self> {
        let item = versioned(context.catalog.item(name)?)?;
        let forms = places::forms(&context.timeline.history, name)?;
        (!forms.is_empty()).then_some(Self { name, item, forms })
    }

    /// What the layout is called.
    pub fn form_name(&self, index: usize) -> String {
        match index + 1 == self.forms.len() {
            true => newest(self.name),
            false => older(self.name, self.forms[index].epoch.releases.first),
        }
    }

    /// Whether all layouts have the field in one place.
    pub fn is_fixed(&self, field: &Field) -> bool {
        let at = |form: &Form<'_>| form.fields.get(field.name.as_str()).map(|it| it.offset);
        self.forms.iter().all(|form| at(form) == Some(field.offset))
    }
}

/// The struct, if it opens with `struct_size`.
pub fn versioned(item: &Item) -> Option<&Struct> {
    match item {
        Item::Struct(item) if is_versioned(item) => Some(item),
        _ => None,
    }
}

/// `SP_Platform_newest`
pub fn newest(name: &str) -> String {
    format!("{name}_newest")
}

/// `SP_Platform_v2_5`
pub fn older(name: &str, (major, minor): Minor) -> String {
    format!("{name}_v{major}_{minor}")
}

/// A member's type: what it holds by value is the form of it that `release` has; the newest without.
pub fn held(ty: &Type, context: &Context<'_>, release: Option<Minor>) -> Type {
    match ty {
        Type::Named(name) => Type::Named(form_at(name, context, release)),
        Type::Array { elem, len } => Type::Array {
            elem: Box::new(held(elem, context, release)),
            len: *len,
        },
        other => other.clone(),
    }
}

fn form_at(name: &str, context: &Context<'_>, release: Option<Minor>) -> String {
    let is_versioned = context.catalog.item(name).and_then(versioned).is_some();
    let old = release.and_then(|release| old_at(name, context, release));
    match (old, is_versioned) {
        (Some(old), _) => old,
        (None, true) => newest(name),
        (None, false) => name.to_owned(),
    }
}

/// The older form of a struct or union that a release has.
fn old_at(name: &str, context: &Context<'_>, release: Minor) -> Option<String> {
    let home = context.catalog.home(name)?;
    let olds = context.broken.get(home)?.values().flatten();
    let mut forms = olds.filter(|old| matches!(old.item, Item::Struct(_) | Item::Union(_)));
    let old = forms.find(|old| old.name == name && (old.span.0..=old.span.1).contains(&release))?;
    Some(older(name, old.span.0))
}
