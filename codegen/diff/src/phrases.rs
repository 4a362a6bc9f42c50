//! Phrases that the messages of several rules use.

use sp_ir::{Direction, Scope, Transfer};

use super::change::{LayoutChange, ValueChange};

/// Joins names, and counts those after the fourth: `a, b, c, d and 3 more`.
pub fn join_names(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>();
    let shown = shown.join(", ");
    match names.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("{shown} and {more} more"),
        _ => shown,
    }
}

/// Returns the name of the first member that a change concerns.
pub fn first_field(layout: &LayoutChange) -> String {
    let layout = layout.field_names().first().copied().unwrap_or_default();
    layout.into()
}

/// Returns the part of an item's path after the last dot.
pub fn last_component(item: &str) -> &str {
    item.rsplit('.').next().unwrap_or(item)
}

/// Returns the lowest offset of the members that a change concerns.
pub fn first_offset(layout: &LayoutChange) -> u64 {
    let offsets = layout.fields.iter().map(|field| field.offset);
    offsets.min().unwrap_or(0)
}

/// Describes a change of members: `a, b were inserted at offset 256`.
pub fn describe_fields(layout: &LayoutChange, participle: &str) -> String {
    let verb = match layout.fields.len() {
        1 => "was",
        _ => "were",
    };
    let names = join_names(&layout.field_names());
    format!("{names} {verb} {participle} {}", first_offset(layout))
}

/// Describes the members that moved as a consequence, and the change of the size.
pub fn describe_moves(layout: &LayoutChange) -> String {
    let moved = match layout.moved.as_slice() {
        [] => String::new(),
        [name] => format!("; {name} moved"),
        names => format!("; {} members moved", names.len()),
    };
    moved + &describe_size(layout)
}

/// Describes the change of the size: `; the size changed from 264 to 288 bytes`.
pub fn describe_size(layout: &LayoutChange) -> String {
    let (old, new) = match (layout.written_size.old, layout.written_size.new) {
        (Some(old), Some(new)) => (old, new),
        _ => (layout.size.old, layout.size.new),
    };
    match old == new {
        true => String::new(),
        false => format!("; the size changed from {old} to {new} bytes"),
    }
}

/// Returns the value of NEW's size macro.
pub fn new_struct_size(layout: &LayoutChange) -> u64 {
    let size = layout
        .structure
        .and_then(|structs| structs.new.struct_size.as_ref());
    size.map_or(layout.size.new, |size| size.value)
}

/// Returns the name of a direction.
pub fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "in",
        Direction::Out => "out",
        Direction::InOut => "inout",
    }
}

/// Returns the name of an ownership transfer.
pub fn transfer(transfer: Transfer) -> &'static str {
    match transfer {
        Transfer::None => "borrowed",
        Transfer::Full => "owned",
    }
}

/// Returns how long a callee uses a value.
pub fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Call => "during the call only",
        Scope::Stored => "after the call too",
    }
}

/// Describes new numbers of enumerators: `A changed from 2 to 3`.
pub fn describe_values(changes: &[ValueChange]) -> String {
    let describe = |change: &ValueChange| {
        let value = change.value;
        format!(
            "{} changed from {} to {}",
            change.name, value.old, value.new
        )
    };
    let texts: Vec<String> = changes.iter().map(describe).collect();
    join_names(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}
