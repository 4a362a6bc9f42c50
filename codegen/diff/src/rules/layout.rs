//! Findings about the members, sizes and alignment of structs and unions.

use sp_ir::StructSize;

use super::JudgedChange;
use crate::change::{LayoutChange, OldNew};
use crate::effect;
use crate::finding::{Finding, Impact};
use crate::phrases;
use crate::similarity::Similarity;

const BY_STRUCT_SIZE: &str = "choose the layout by the struct_size that the host wrote";
const BY_RELEASE: &str = "choose the layout by the running release";
const CHECK_RELEASE: &str = "check the running release before you access it";
const USE_HEADER_NAME: &str = "use the name in the headers that you compile with";

/// Returns the finding about a struct whose layout changed.
fn layout_changed(
    change: &JudgedChange,
    layout: &LayoutChange,
    message: String,
    remedy: &str,
) -> Finding {
    let finding = change.evaluate(message, remedy, |case| effect::changed_layout(case, layout));
    finding.with_bytes(layout)
}

/// Returns the finding about members at the end of a struct.
fn appended(
    change: &JudgedChange,
    layout: &LayoutChange,
    consequence: &str,
    remedy: &str,
) -> Finding {
    let message = phrases::describe_fields(layout, "appended at offset") + consequence;
    layout_changed(change, layout, message, remedy)
}

pub fn field_inserted(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let message =
        phrases::describe_fields(layout, "inserted at offset") + &phrases::describe_moves(layout);
    layout_changed(change, layout, message, BY_STRUCT_SIZE)
}

pub fn field_appended(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let remedy = "access it only if the host's struct_size covers it";
    appended(change, layout, &phrases::describe_size(layout), remedy)
}

pub fn required_field_appended(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let remedy = "set it if the host's struct_size covers it";
    appended(change, layout, "; the host requires a value", remedy)
}

pub fn struct_size_outdated(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let size = phrases::new_struct_size(layout);
    let consequence = format!("; the size macro is still {size}");
    let remedy = "do not rely on struct_size for it: check the running release";
    appended(change, layout, &consequence, remedy)
}

pub fn unsized_struct_grown(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let consequence = phrases::describe_size(layout) + "; the struct has no size field";
    appended(change, layout, &consequence, CHECK_RELEASE)
}

pub fn embedded_struct_grown(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let consequence = phrases::describe_size(layout) + "; the struct is used by value";
    let remedy = "choose array strides and offsets by the running release";
    appended(change, layout, &consequence, remedy)
}

pub fn padding_filled(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let message = phrases::describe_fields(layout, "added in padding at offset");
    let remedy = "set the whole struct to zero before you fill it, and check the running release";
    layout_changed(change, layout, message, remedy)
}

pub fn field_removed(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let message =
        phrases::describe_fields(layout, "removed from offset") + &phrases::describe_moves(layout);
    layout_changed(change, layout, message, BY_STRUCT_SIZE)
}

pub fn field_moved(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let field = phrases::first_field(layout);
    let moves = phrases::describe_moves(layout);
    layout_changed(change, layout, format!("{field} moved{moves}"), BY_RELEASE)
}

pub fn field_replaced(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let names = layout.field_names();
    let (old, new) = (names.first().unwrap_or(&""), names.last().unwrap_or(&""));
    let offset = phrases::first_offset(layout);
    let message = format!("{old} was replaced by {new} at offset {offset}");
    layout_changed(change, layout, message, CHECK_RELEASE)
}

pub fn field_retyped(
    change: &JudgedChange,
    layout: &LayoutChange,
    similarity: &Similarity,
) -> Finding {
    let message =
        phrases::first_field(layout) + " has another type" + &phrases::describe_moves(layout);
    let remedy = "read and write it with the type of the running release";
    let finding = change.evaluate(message, remedy, |case| {
        effect::retyped_field(case, layout, *similarity)
    });
    finding.with_bytes(layout)
}

pub fn field_renamed(change: &JudgedChange) -> Finding {
    let message = format!("{} was renamed to {}", change.old_name(), change.new_name());
    change.harmless(message, "type and offset are unchanged", USE_HEADER_NAME)
}

pub fn fields_grouped(change: &JudgedChange, names: &[String]) -> Finding {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let state = match change.new {
        Some(_) => "now",
        None => "no longer",
    };
    let message = format!(
        "{} kept their offsets and are {state} in {}",
        phrases::join_names(&names),
        change.name()
    );
    let remedy = "use the member paths of the headers that you compile with";
    change.harmless(message, "every member kept its offset", remedy)
}

pub fn union_member_added(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let message =
        phrases::join_names(&layout.field_names()) + " was added" + &phrases::describe_size(layout);
    let remedy = "check which member is active before you read one";
    let finding = change.evaluate(message, remedy, |case| {
        effect::changed_union(case, layout, !case.plugin_is_old)
    });
    let same_size = layout.size.old == layout.size.new;
    finding
        .with_bytes(layout)
        .reduce_if(same_size, Impact::Compatible)
}

pub fn union_member_removed(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let message = phrases::join_names(&layout.field_names())
        + " was removed"
        + &phrases::describe_size(layout);
    let remedy = "check the running release before you store it";
    let finding = change.evaluate(message, remedy, |case| {
        effect::changed_union(case, layout, case.plugin_is_old)
    });
    finding.with_bytes(layout)
}

pub fn struct_size_shrunk(
    change: &JudgedChange,
    sizes: &OldNew<&StructSize>,
    layout: &LayoutChange,
) -> Finding {
    let remedy = "check the running release before you rely on struct_size";
    size_changed(change, *sizes, layout, remedy)
}

pub fn struct_size_corrected(
    change: &JudgedChange,
    sizes: &OldNew<&StructSize>,
    layout: &LayoutChange,
) -> Finding {
    let remedy = "on older releases do not rely on struct_size for these members";
    size_changed(change, *sizes, layout, remedy)
}

/// Returns the finding about a size macro that covers other members of the same struct.
fn size_changed(
    change: &JudgedChange,
    sizes: OldNew<&StructSize>,
    layout: &LayoutChange,
    remedy: &str,
) -> Finding {
    let values = sizes.map(|size| size.value);
    let message = format!(
        "{} changed from {} to {}",
        sizes.new.symbol, values.old, values.new
    );
    let finding = change.evaluate(message, remedy, |case| {
        effect::changed_struct_size(case, sizes, &layout.field_names())
    });
    finding.with_bytes(layout)
}

pub fn struct_size_added(change: &JudgedChange, size: &StructSize) -> Finding {
    let message = format!("{} = {} was added", size.symbol, size.value);
    let remedy = "write the size of the host's layout version";
    change.harmless(message, "the layout is unchanged", remedy)
}

pub fn struct_size_dropped(change: &JudgedChange, size: &StructSize) -> Finding {
    let message = format!("{} was removed", size.symbol);
    let remedy = "declare the size in your own code";
    change.harmless(message, "the layout is unchanged", remedy)
}

pub fn struct_size_renamed(change: &JudgedChange, sizes: &OldNew<&StructSize>) -> Finding {
    let message = format!("{} was renamed to {}", sizes.old.symbol, sizes.new.symbol);
    change.harmless(message, "no binary contains the name", USE_HEADER_NAME)
}

pub fn struct_resized(change: &JudgedChange, layout: &LayoutChange) -> Finding {
    let OldNew { old, new } = layout.size;
    let message = format!("sizeof changed from {old} to {new}");
    let remedy = "allocate the larger of the two sizes";
    let finding = change.evaluate(message, remedy, |case| effect::changed_sizeof(case, layout));
    finding.with_bytes(layout)
}

pub fn struct_realigned(change: &JudgedChange, alignment: &OldNew<u64>) -> Finding {
    let OldNew { old, new } = alignment;
    let message = format!("the alignment changed from {old} to {new}");
    let remedy = "use the larger alignment of the two";
    change.evaluate(message, remedy, |case| {
        effect::changed_alignment(case, *alignment)
    })
}
