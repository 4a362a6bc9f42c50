//! Accessors of structs that the host allocates: the layouts of each struct, the offset of each field in
//! them, and a function that fills the whole struct. `text/structs.h` defines the macros used here.

use std::fmt::Write;

use sp_ir::{Field, Type, Writer};

use super::comment;
use super::layouts::{StructLayouts, newest_name};
use super::{releases, retyped};
use crate::model::context::Context;
use crate::model::retyped::{RetypedSlot, retyped_slots};

/// Prints the accessors of every struct of the API that has a `struct_size`.
pub fn print(context: &Context<'_>) -> String {
    let names = context.api.items.keys();
    let layouts = names.filter_map(|name| StructLayouts::find(name, context));
    layouts.map(|it| print_struct(&it, context)).collect()
}

fn print_struct(layouts: &StructLayouts<'_>, context: &Context<'_>) -> String {
    let name = layouts.name;
    let retyped_slots = retyped_slots(name, layouts.item, context);
    let mut text = format!("/* ---- {name} */\n\n{}", layout_list(layouts));
    let fields = layouts.item.fields.iter();
    for field in fields.filter(|field| field.name != "struct_size") {
        let slot = retyped_slots.iter().find(|it| it.slot == field.name);
        text += &print_field(layouts, field, slot);
    }
    text.push('\n');
    text + &print_fill(layouts, &retyped_slots, context)
}

/// Prints `SPGEN_STRUCT(SP_Platform, {34, {205, 208}}, {35, {209, 0}})`; the compiler computes the sizes.
fn layout_list(layouts: &StructLayouts<'_>) -> String {
    let list = layouts.layouts.iter().enumerate().map(|(index, layout)| {
        let type_name = layouts.type_name(index);
        let struct_size = layout.record.struct_size.as_ref();
        let last_field = struct_size.map_or("struct_size", |it| &it.last_field);
        let releases = match layouts.layouts.len() {
            // A layout that never changed is that of every release.
            1 => "{SPGEN_FIRST_RELEASE, 0}".to_owned(),
            _ => releases::range(layout.first, layout.last),
        };
        format!("\n    {{SPGEN_END_OF({type_name}, {last_field}), {releases}}}")
    });
    let list: Vec<String> = list.collect();
    format!("SPGEN_STRUCT({},{})\n", layouts.name, list.join(","))
}

fn print_field(
    layouts: &StructLayouts<'_>,
    field: &Field,
    retyped_slot: Option<&RetypedSlot<'_>>,
) -> String {
    let (name, member) = (layouts.name, &field.name);
    // A slot with two signatures has a setter of its own and no getter.
    let (macro_suffix, setter) = match retyped_slot {
        Some(slot) => ("OFFSET", retyped::print(slot)),
        None => ("FIELD", String::new()),
    };
    match layouts.has_fixed_offset(field) {
        true => format!("SPGEN_FIXED_{macro_suffix}({name}, {member})\n{setter}"),
        false => {
            let head = format!("SPGEN_MOVED_{macro_suffix}");
            let mut arguments = vec![name.to_owned(), member.clone()];
            arguments.extend(offsets(layouts, field));
            comment::call(&head, &arguments, "\n") + &setter
        }
    }
}

/// Returns the field's offset in each layout, by the name that it has there.
fn offsets(layouts: &StructLayouts<'_>, field: &Field) -> Vec<String> {
    let offsets = layouts.layouts.iter().enumerate().map(|(index, layout)| {
        let offset_of =
            |it: &&Field| format!("offsetof({}, {})", layouts.type_name(index), it.name);
        let offset = layout.fields.get(field.name.as_str()).map(offset_of);
        offset.unwrap_or_else(|| "SPGEN_ABSENT".to_owned())
    });
    offsets.collect()
}

/// Prints the function that stores all fields that the plugin fills; empty if it fills none.
fn print_fill(
    layouts: &StructLayouts<'_>,
    retyped_slots: &[RetypedSlot<'_>],
    context: &Context<'_>,
) -> String {
    let name = layouts.name;
    let is_filled = |field: &&Field| is_filled_by_plugin(layouts, field, context);
    let fields: Vec<&Field> = layouts.item.fields.iter().filter(is_filled).collect();
    if fields.is_empty() {
        return String::new();
    }
    let head = format!("static inline bool spgen_fill_{name}");
    let values = format!("const {}* values", newest_name(name));
    let params = [format!("{name}* object"), values, "void* status".to_owned()];
    let check =
        format!(" {{\n  if (!spgen_has_known_layout_{name}(object, status)) return false;\n");
    let mut text = comment::call(&head, &params, "") + &check;
    for slot in retyped_slots {
        text += &retyped::fill(slot);
    }
    let is_retyped = |field: &Field| retyped_slots.iter().any(|it| it.slot == field.name);
    for field in fields.into_iter().filter(|field| !is_retyped(field)) {
        let member = &field.name;
        let _ = writeln!(
            text,
            "  spgen_set_{name}_{member}(object, values->{member});"
        );
    }
    text + &format!(
        "  spgen_write_struct_size(&spgen_layouts_{name}, object);\n  return true;\n}}\n\n"
    )
}

/// Returns true if the plugin stores the field. A reserved field stays as the host has it.
fn is_filled_by_plugin(layouts: &StructLayouts<'_>, field: &Field, context: &Context<'_>) -> bool {
    let is_versioned = |ty: &Type| context.catalog.is_versioned(ty);
    let writer = layouts.item.writer(field, is_versioned);
    field.name != "struct_size" && writer == Some(Writer::Plugin)
}
