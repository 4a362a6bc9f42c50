//! Declarations of types and values: forward declarations, enumerations, constants, aliases, callbacks.

use std::fmt::Write;

use crate::model::item_releases::ItemReleases;
use sp_ir::{Constant, Enum, Item, Value, c};

use super::{comment, order, structs};
use crate::model::context::Context;
use crate::model::parameter_docs;

/// Prints forward declarations of the API's types, and of types of other APIs that need no more than that.
pub fn forward(context: &Context<'_>) -> String {
    let mut text = String::new();
    for (name, item) in &context.api.items {
        if let Some(line) = forward_declaration(name, item) {
            if let Item::Handle(handle) = item {
                let releases = context.timeline.release_text(name, "");
                text += &comment::doc(0, &doc_paragraphs(handle.doc.as_ref(), releases));
            }
            text += &line;
        }
    }
    let foreign = order::foreign_forwards(context).into_iter();
    let foreign: String = foreign
        .filter_map(|name| forward_declaration(name, context.catalog.item(name)?))
        .collect();
    match foreign.is_empty() {
        true => text,
        false => format!("/* Types of other headers. */\n{foreign}\n{text}"),
    }
}

fn forward_declaration(name: &str, item: &Item) -> Option<String> {
    order::is_forward(item).then(|| match item {
        Item::Struct(_) => format!("typedef struct {name} {name};\n"),
        Item::Union(_) => format!("typedef union {name} {name};\n"),
        other => format!("{};\n", c::item(name, other)),
    })
}

fn doc_paragraphs(doc: Option<&String>, releases: &str) -> Vec<String> {
    let doc = doc.cloned().unwrap_or_default();
    let since = comment::since(releases);
    vec![format!("{doc} {since}").trim().to_owned()]
}

/// Prints constants and enumerations.
pub fn values(context: &Context<'_>) -> String {
    let items = context.api.items.iter();
    let printed = items.map(|(name, item)| match item {
        Item::Enum(item) => enumeration(name, item, context),
        Item::Constant(item) => constant(name, item, context),
        _ => String::new(),
    });
    printed.collect()
}

fn enumeration(name: &str, item: &Enum, context: &Context<'_>) -> String {
    let releases = context.timeline.release_text(name, "");
    let mut text = comment::doc(0, &doc_paragraphs(item.doc.as_ref(), releases));
    let _ = writeln!(text, "typedef enum {name} {{");
    for variant in &item.variants {
        let releases = context.timeline.release_text(name, &variant.name);
        let since = match comment::since(releases).as_str() {
            "" => String::new(),
            since => format!(" /* {since} */"),
        };
        let _ = writeln!(text, "  {} = {},{since}", variant.name, variant.value);
    }
    let size = match &item.repr {
        sp_ir::Type::Int { bits, .. } => bits / 8,
        _ => 4,
    };
    let _ = writeln!(
        text,
        "}} {name};\nSPGEN_STATIC_ASSERT(sizeof({name}) == {size}, \"{name} has {size} bytes\");\n"
    );
    text
}

fn constant(name: &str, item: &Constant, context: &Context<'_>) -> String {
    let releases = context.timeline.release_text(name, "");
    let doc = comment::doc(0, &doc_paragraphs(item.doc.as_ref(), releases));
    let value = match &item.value {
        Value::Int(value) if *value < 0 => format!("({value})"),
        Value::Int(value) => value.to_string(),
        Value::Text(text) => c::string_literal(text),
        Value::Name(other) => other.clone(),
    };
    format!("{doc}#define {name} {value}\n")
}

/// Prints aliases, callbacks, structs and unions, each after those that it needs.
pub fn bodies(context: &Context<'_>) -> String {
    let order = order::declaration_order(context).into_iter();
    order.map(|name| body(name, context)).collect()
}

fn body(name: &str, context: &Context<'_>) -> String {
    let releases = context.timeline.release_text(name, "");
    match context.api.items.get(name) {
        Some(item @ Item::Alias(alias)) => {
            let doc = comment::doc(0, &doc_paragraphs(alias.doc.as_ref(), releases));
            format!("{doc}{};\n\n", c::item(name, item))
        }
        Some(Item::Callback(callback)) => {
            let mut paragraphs = doc_paragraphs(callback.doc.as_ref(), releases);
            paragraphs.extend(parameter_docs::describe(&callback.signature));
            let declaration = c::broken(&format!("(*{name})"), &callback.signature);
            let doc = comment::doc(0, &paragraphs);
            format!("{doc}typedef {declaration};\n\n")
        }
        Some(_) => structs::print(name, context),
        None => String::new(),
    }
}
