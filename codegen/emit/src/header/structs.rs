//! Structs and unions: their members, their older forms, and what the compiler must find of them.

use std::fmt::Write;

use sp_expand::structure::{ItemReleases, field_doc, struct_doc, with_discriminator_note};
use sp_ir::{Field, Item, Layout, StructSize, Type};

use super::comment;
use super::forms::{self, Layouts, held};
use crate::context::Context;
use crate::minor;
use crate::minor::Minor;
use sp_ir::c;

/// A body to print.
struct Body<'a> {
    keyword: &'static str,
    name: String,
    fields: &'a [Field],
    layout: Layout,
    struct_size: Option<&'a StructSize>,
    /// The release whose forms it holds; the newest where none is said.
    release: Option<Minor>,
}

/// A struct or union with all its forms, oldest first; nothing where it is neither.
pub fn print(name: &str, context: &Context<'_>) -> String {
    let Some((name, item)) = context.api.items.get_key_value(name) else {
        return String::new();
    };
    match (Layouts::of(name, context), item) {
        (Some(layouts), _) => versioned(&layouts, context),
        (None, Item::Struct(it)) => plain(name, "struct", &it.fields, it.layout, context),
        (None, Item::Union(it)) => plain(name, "union", &it.fields, it.layout, context),
        _ => String::new(),
    }
}

/// The layouts of a struct with a `struct_size`: types of their own, the struct itself stays incomplete.
fn versioned(layouts: &Layouts<'_>, context: &Context<'_>) -> String {
    let mut text = String::new();
    let last = layouts.forms.len() - 1;
    for (index, form) in layouts.forms.iter().enumerate() {
        let (first, until) = (form.epoch.releases.first, form.epoch.releases.last);
        let body = Body {
            keyword: "struct",
            name: layouts.form_name(index),
            fields: match index == last {
                true => &layouts.item.fields,
                false => &form.record.fields,
            },
            layout: form.record.layout,
            struct_size: form.record.struct_size.as_ref(),
            release: until.filter(|_| index != last),
        };
        let said = match index == last {
            true => struct_doc(layouts.item),
            false => {
                let until = until.unwrap_or(first);
                let run = minor::run((first, until));
                format!("{} as {run} had it.", layouts.name)
            }
        };
        let dates = (index == last).then_some(layouts.name);
        text += &declare(&body, said, dates, context);
    }
    text
}

/// A struct or union without one, and what it was before a release broke it.
fn plain(
    name: &str,
    keyword: &'static str,
    fields: &[Field],
    layout: Layout,
    context: &Context<'_>,
) -> String {
    let olds = context
        .old
        .into_iter()
        .flat_map(|modules| modules.values().flatten());
    let olds = olds.filter(|old| old.name == name).filter_map(|old| {
        let (fields, layout) = match old.item {
            Item::Struct(it) => (&it.fields, it.layout),
            Item::Union(it) => (&it.fields, it.layout),
            _ => return None,
        };
        let body = Body {
            keyword,
            name: forms::older(name, old.span.0),
            fields,
            layout,
            struct_size: None,
            release: Some(old.span.1),
        };
        let said = format!("{name} as {} had it.", minor::run(old.span));
        Some(declare(&body, said, None, context))
    });
    let olds: String = olds.collect();
    let said = match context.api.items.get(name) {
        Some(Item::Struct(it)) => with_discriminator_note(&struct_doc(it), &it.discriminator),
        Some(Item::Union(it)) => {
            let said = it.doc.clone();
            let said = said.unwrap_or_else(|| format!("A union of {} bytes.", it.layout.size));
            with_discriminator_note(&said, &it.discriminator)
        }
        _ => String::new(),
    };
    let body = Body {
        keyword,
        name: name.to_owned(),
        fields,
        layout,
        struct_size: None,
        release: None,
    };
    olds + &declare(&body, said, Some(name), context)
}

/// The body, and the assertions on it; `dated` is the item whose members' releases are told.
fn declare(body: &Body<'_>, said: String, dated: Option<&str>, context: &Context<'_>) -> String {
    let Body { keyword, name, .. } = body;
    let mut text = comment::doc(0, &[said]);
    let _ = writeln!(text, "typedef {keyword} {name} {{");
    for field in body.fields {
        if let Some(item) = dated {
            let since = context.timeline.release_text(item, &field.name);
            text += &comment::doc(2, &member_doc(field, since));
        }
        let ty = member_type(field, context, body.release);
        let _ = writeln!(text, "  {};", c::member(&field.name, &ty));
    }
    let _ = writeln!(text, "}} {name};");
    text + &asserted(body) + "\n"
}

/// In C++ a member may not be called as its type is, where the type is said by that name.
fn member_type(field: &Field, context: &Context<'_>, release: Option<Minor>) -> Type {
    match context.catalog.item(&field.name) {
        Some(Item::Callback(it)) if field.ty == Type::Named(field.name.clone()) => {
            Type::Function(Box::new(it.signature.clone()))
        }
        _ => held(&field.ty, context, release),
    }
}

fn member_doc(field: &Field, releases: &str) -> Vec<String> {
    // Where nobody said anything of a member, its type says as much as could be made up.
    let known = field.doc.is_some() || field.name == "struct_size";
    let said = match known {
        true => field_doc(field) + presence(field),
        false => String::new(),
    };
    let since = comment::since(releases);
    vec![format!("{said} {since}").trim().to_owned()]
}

fn presence(field: &Field) -> &'static str {
    match sp_expand::structure::presence(field) {
        sp_ir::Presence::Required => " Required.",
        sp_ir::Presence::Optional => " Optional.",
        sp_ir::Presence::Unstated => "",
    }
}

fn asserted(body: &Body<'_>) -> String {
    let Body { name, layout, .. } = body;
    let mut text = format!("SP_LAID_OUT({name}, {}, {});\n", layout.size, layout.align);
    for field in body.fields {
        let _ = writeln!(text, "SP_AT({name}, {}, {});", field.name, field.offset);
    }
    if let Some(size) = body.struct_size {
        let _ = writeln!(
            text,
            "SP_SIZED({name}, {}, {});",
            size.last_field, size.value
        );
    }
    text
}
