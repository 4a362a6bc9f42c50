//! What names types and values: forward declarations, enumerations, constants, aliases, callbacks.

use std::fmt::Write;

use sp_expand::structure::ItemReleases;
use sp_ir::{Constant, Enum, Item, Value};

use super::super::contract;
use super::{comment, order, structs};
use crate::context::Context;
use sp_ir::c;

/// Types that are pointed to: the API's own, and of other APIs those that it needs no more of.
pub fn forward(context: &Context<'_>) -> String {
    let mut text = String::new();
    for (name, item) in &context.api.items {
        if let Some(line) = declared(name, item) {
            if let Item::Handle(handle) = item {
                text += &comment::doc(
                    0,
                    &said(handle.doc.as_ref(), context.timeline.release_text(name, "")),
                );
            }
            text += &line;
        }
    }
    let borrowed = order::borrowed(context).into_iter();
    let foreign: String = borrowed
        .filter_map(|name| declared(name, context.catalog.item(name)?))
        .collect();
    match foreign.is_empty() {
        true => text,
        false => format!("/* Of other headers. */\n{foreign}\n{text}"),
    }
}

fn declared(name: &str, item: &Item) -> Option<String> {
    order::is_forward(item).then(|| match item {
        Item::Struct(_) => format!("typedef struct {name} {name};\n"),
        Item::Union(_) => format!("typedef union {name} {name};\n"),
        other => format!("{};\n", c::item(name, other)),
    })
}

fn said(doc: Option<&String>, releases: &str) -> Vec<String> {
    let said = doc.cloned().unwrap_or_default();
    let since = comment::since(releases);
    vec![format!("{said} {since}").trim().to_owned()]
}

/// Macros with a value, and enumerations.
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
    let dates = context.timeline.release_text(name, "");
    let mut text = comment::doc(0, &said(item.doc.as_ref(), dates));
    let _ = writeln!(text, "typedef enum {name} {{");
    for variant in &item.variants {
        let since =
            match comment::since(context.timeline.release_text(name, &variant.name)).as_str() {
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
        "}} {name};\nSP_ASSERT(sizeof({name}) == {size}, \"{name}\");\n"
    );
    text
}

fn constant(name: &str, item: &Constant, context: &Context<'_>) -> String {
    let doc = comment::doc(
        0,
        &said(item.doc.as_ref(), context.timeline.release_text(name, "")),
    );
    let value = match &item.value {
        Value::Int(value) if *value < 0 => format!("({value})"),
        Value::Int(value) => value.to_string(),
        Value::Text(text) => c::string_literal(text),
        Value::Name(other) => other.clone(),
    };
    format!("{doc}#define {name} {value}\n")
}

/// Aliases, callbacks and bodies, each after those that it needs.
pub fn bodies(context: &Context<'_>) -> String {
    let order = order::of(context).into_iter();
    order.map(|name| body(name, context)).collect()
}

fn body(name: &str, context: &Context<'_>) -> String {
    let dates = context.timeline.release_text(name, "");
    match context.api.items.get(name) {
        Some(item @ Item::Alias(alias)) => {
            let doc = comment::doc(0, &said(alias.doc.as_ref(), dates));
            format!("{doc}{};\n\n", c::item(name, item))
        }
        Some(Item::Callback(callback)) => {
            let mut said = said(callback.doc.as_ref(), dates);
            said.extend(contract::told(&callback.signature));
            let declared = c::broken(&format!("(*{name})"), &callback.signature);
            format!("{}typedef {declared};\n\n", comment::doc(0, &said))
        }
        Some(_) => structs::print(name, context),
        None => String::new(),
    }
}
