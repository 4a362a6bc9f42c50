//! Access to the structs of a host: what layouts there are, where each has a field, and what fills a
//! whole one. The macros that this is written with stand in the shim's own header.

use std::fmt::Write;

use sp_ir::{Field, Side, Type};

use super::super::retyped::{self, Retyped};
use super::comment;
use super::forms::{Layouts, newest};
use super::retyped as slot;
use crate::context::Context;

/// Access to every struct of the API that has a `struct_size`.
pub fn print(context: &Context<'_>) -> String {
    let names = context.api.items.keys();
    let layouts = names.filter_map(|name| Layouts::of(name, context));
    layouts.map(|it| of(&it, context)).collect()
}

fn of(layouts: &Layouts<'_>, context: &Context<'_>) -> String {
    let name = layouts.name;
    let retyped = retyped::slots(name, layouts.item, context);
    let mut text = format!("/* ---- {name} */\n\n{}", told(layouts));
    let fields = layouts.item.fields.iter();
    for field in fields.filter(|field| field.name != "struct_size") {
        let again = retyped.iter().find(|it| it.slot == field.name);
        text += &access(layouts, field, again);
    }
    text.push('\n');
    text + &fill(layouts, &retyped, context)
}

/// `SP_STRUCT(SP_Platform, {34, {205, 208}}, {35, {209, 0}})`, the sizes by the compiler.
fn told(layouts: &Layouts<'_>) -> String {
    let forms = layouts.forms.iter().enumerate().map(|(index, form)| {
        let form_name = layouts.form_name(index);
        let last = form
            .record
            .struct_size
            .as_ref()
            .map(|it| it.last_field.as_str());
        let releases = match layouts.forms.len() {
            // A layout that never changed is every release's.
            1 => "{SP_FIRST_RELEASE, 0}".to_owned(),
            _ => slot::releases(form.epoch.releases.first, form.epoch.releases.last),
        };
        let last = last.unwrap_or("struct_size");
        format!("\n    {{SP_END({form_name}, {last}), {releases}}}")
    });
    let forms: Vec<String> = forms.collect();
    format!("SP_STRUCT({},{})\n", layouts.name, forms.join(","))
}

fn access(layouts: &Layouts<'_>, field: &Field, retyped: Option<&Retyped<'_>>) -> String {
    let (name, member) = (layouts.name, &field.name);
    // What is called by one of two signatures is stored by a function of its own, and not read.
    let (place, own) = match retyped {
        Some(retyped) => ("_PLACE", slot::print(retyped)),
        None => ("", String::new()),
    };
    match layouts.is_fixed(field) {
        true => format!("SP_FIXED{place}({name}, {member})\n{own}"),
        false => {
            let head = format!("SP_MOVED{place}");
            let mut items = vec![name.to_owned(), member.clone()];
            items.extend(places(layouts, field));
            comment::listed(&head, &items, "\n") + &own
        }
    }
}

/// The field's place in each layout, by the name that it has there.
fn places(layouts: &Layouts<'_>, field: &Field) -> Vec<String> {
    let forms = layouts.forms.iter().enumerate();
    let places = forms.map(|(index, form)| {
        let at = |it: &&Field| format!("offsetof({}, {})", layouts.form_name(index), it.name);
        let there = form.fields.get(field.name.as_str()).map(at);
        there.unwrap_or_else(|| "SP_ABSENT".to_owned())
    });
    places.collect()
}

/// What stores all that the plugin fills; nothing where it fills nothing.
fn fill(layouts: &Layouts<'_>, retyped: &[Retyped<'_>], context: &Context<'_>) -> String {
    let name = layouts.name;
    let filled = |field: &&Field| is_filled(layouts, field, context);
    let fields: Vec<&Field> = layouts.item.fields.iter().filter(filled).collect();
    if fields.is_empty() {
        return String::new();
    }
    let head = format!("static inline bool sp_fill_{name}");
    let mine = format!("const {}* mine", newest(name));
    let params = [format!("{name}* host"), mine, "void* status".to_owned()];
    let known = format!(" {{\n  if (!sp_known_{name}(host, status)) return false;\n");
    let mut text = comment::listed(&head, &params, "") + &known;
    for slot in retyped {
        text += &slot::fill(slot);
    }
    let is_retyped = |field: &Field| retyped.iter().any(|it| it.slot == field.name);
    for field in fields.into_iter().filter(|field| !is_retyped(field)) {
        let member = &field.name;
        let _ = writeln!(text, "  sp_set_{name}_{member}(host, mine->{member});");
    }
    text + &format!("  sp_announce(&sp_layouts_{name}, host);\n  return true;\n}}\n\n")
}

/// Whether the plugin stores the field; where it points to a struct of core's, core does.
fn is_filled(layouts: &Layouts<'_>, field: &Field, context: &Context<'_>) -> bool {
    let points = match &field.ty {
        Type::Pointer { pointee, .. } => context.catalog.versioned(pointee).is_some(),
        _ => false,
    };
    let by_plugin = layouts.item.filler(field) == Some(Side::Plugin);
    field.name != "struct_size" && by_plugin && !points
}
