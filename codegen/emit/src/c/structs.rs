//! Structs and unions: their members, their older layouts, and assertions about the compiler's layout.

use std::fmt::Write;

use sp_ir::{Field, Item, Layout, Release, StructSize, Type, c};

use super::comment;
use super::layouts::{StructLayouts, by_value_type, older_name};
use crate::model::context::Context;
use crate::model::docs::{field_doc, presence, struct_doc, union_doc, with_discriminator_note};
use crate::model::epochs::OlderDeclaration;
use crate::model::item_releases::ItemReleases;
use crate::model::releases::{Span, format_span};

/// A struct or union to print.
struct Body<'a> {
    keyword: &'static str,
    name: String,
    fields: &'a [Field],
    layout: Layout,
    struct_size: Option<&'a StructSize>,
    /// The release whose layouts it embeds; `None` for the newest.
    release: Option<Release>,
}

/// Prints a struct or union with all its layouts, oldest first; empty for other items.
pub fn print(name: &str, context: &Context<'_>) -> String {
    let Some((name, item)) = context.api.items.get_key_value(name) else {
        return String::new();
    };
    match (StructLayouts::find(name, context), item) {
        (Some(layouts), _) => print_layouts(&layouts, context),
        (None, Item::Struct(it)) => print_plain(name, "struct", &it.fields, it.layout, context),
        (None, Item::Union(it)) => print_plain(name, "union", &it.fields, it.layout, context),
        _ => String::new(),
    }
}

/// Prints a type for each layout of a struct with a `struct_size`. The struct itself stays incomplete.
fn print_layouts(layouts: &StructLayouts<'_>, context: &Context<'_>) -> String {
    let mut text = String::new();
    let newest = layouts.layouts.len() - 1;
    for (index, layout) in layouts.layouts.iter().enumerate() {
        let body = Body {
            keyword: "struct",
            name: layouts.type_name(index),
            fields: match index == newest {
                true => &layouts.item.fields,
                false => &layout.record.fields,
            },
            layout: layout.record.layout,
            struct_size: layout.record.struct_size.as_ref(),
            release: layout.last.filter(|_| index != newest),
        };
        let doc = match index == newest {
            true => struct_doc(layouts.item),
            false => {
                let last = layout.last.unwrap_or(layout.first);
                older_layout_doc(layouts.name, (layout.first, last))
            }
        };
        let dated_item = (index == newest).then_some(layouts.name);
        text += &print_body(&body, doc, dated_item, context);
    }
    text
}

fn older_layout_doc(name: &str, span: Span) -> String {
    format!("The layout of {name} in {}.", format_span(span))
}

/// Prints a struct or union without a `struct_size`, and the layouts that a later release broke.
fn print_plain(
    name: &str,
    keyword: &'static str,
    fields: &[Field],
    layout: Layout,
    context: &Context<'_>,
) -> String {
    let older = context.older_declarations().filter(|it| it.name == name);
    let older: String = older.map(|it| print_older(it, keyword, context)).collect();
    let doc = match context.api.items.get(name) {
        Some(Item::Struct(it)) => with_discriminator_note(&struct_doc(it), &it.discriminator),
        Some(Item::Union(it)) => with_discriminator_note(&union_doc(it), &it.discriminator),
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
    older + &print_body(&body, doc, Some(name), context)
}

/// Prints a layout that a later release broke.
fn print_older(
    older: &OlderDeclaration<'_>,
    keyword: &'static str,
    context: &Context<'_>,
) -> String {
    let (fields, layout) = match older.item {
        Item::Struct(it) => (&it.fields, it.layout),
        Item::Union(it) => (&it.fields, it.layout),
        _ => return String::new(),
    };
    let body = Body {
        keyword,
        name: older_name(older.name, older.span.0),
        fields,
        layout,
        struct_size: None,
        release: Some(older.span.1),
    };
    let doc = older_layout_doc(older.name, older.span);
    print_body(&body, doc, None, context)
}

/// Prints the body and its assertions. The docs of its members state the releases of `dated_item`'s members.
fn print_body(
    body: &Body<'_>,
    doc: String,
    dated_item: Option<&str>,
    context: &Context<'_>,
) -> String {
    let Body { keyword, name, .. } = body;
    let mut text = comment::doc(0, &[doc]);
    let _ = writeln!(text, "typedef {keyword} {name} {{");
    for field in body.fields {
        if let Some(item) = dated_item {
            let releases = context.timeline.release_text(item, &field.name);
            text += &comment::doc(2, &member_doc(field, releases));
        }
        let ty = member_type(field, context, body.release);
        let _ = writeln!(text, "  {};", c::member(&field.name, &ty));
    }
    let _ = writeln!(text, "}} {name};");
    text + &assertions(body) + "\n"
}

/// Returns the type of a member. In C++ a member may not have the name of its type, so such a callback type is
/// written out.
fn member_type(field: &Field, context: &Context<'_>, release: Option<Release>) -> Type {
    match context.catalog.item(&field.name) {
        Some(Item::Callback(it)) if field.ty == Type::Named(field.name.clone()) => {
            Type::Function(Box::new(it.signature.clone()))
        }
        _ => by_value_type(&field.ty, context, release),
    }
}

fn member_doc(field: &Field, releases: &str) -> Vec<String> {
    // A doc that is made from the facts alone repeats the member's declaration.
    let has_doc = field.doc.is_some() || field.name == "struct_size";
    let doc = match has_doc {
        true => field_doc(field) + presence_text(field),
        false => String::new(),
    };
    let since = comment::since(releases);
    vec![format!("{doc} {since}").trim().to_owned()]
}

fn presence_text(field: &Field) -> &'static str {
    match presence(field) {
        sp_ir::Presence::Required => " Required.",
        sp_ir::Presence::Optional => " Optional.",
        sp_ir::Presence::Unstated => "",
    }
}

fn assertions(body: &Body<'_>) -> String {
    let Body { name, layout, .. } = body;
    let mut text = format!(
        "SPGEN_ASSERT_LAYOUT({name}, {}, {});\n",
        layout.size, layout.align
    );
    for field in body.fields {
        let _ = writeln!(
            text,
            "SPGEN_ASSERT_OFFSET({name}, {}, {});",
            field.name, field.offset
        );
    }
    if let Some(size) = body.struct_size {
        let _ = writeln!(
            text,
            "SPGEN_ASSERT_STRUCT_SIZE({name}, {}, {});",
            size.last_field, size.value
        );
    }
    text
}
