//! Adds the sides that follow from name prefixes, which the API's notes list: "Struct prefix indicates whether struct
//! fields should be filled by the plugin or core" at the head of stream_executor.h. Core exports each function that the
//! notes do not list as an entry point.

use sp_ir::{Evidence, Function, Item, Side};

use super::notes::{Notes, matches};
use super::{Items, state};

/// Adds the side that fills each struct and the side that exports each function.
pub fn annotate(items: &mut Items, notes: &Notes) {
    for (name, item) in items {
        match item {
            Item::Struct(item) => {
                if let Some(side) = filling_side(name, notes) {
                    state(&mut item.filled_by, side, Evidence::Prefix);
                }
            }
            Item::Function(item) if !item.inline => annotate_export(name, item, notes),
            _ => {}
        }
    }
}

/// Returns the side of the longest matching prefix or pattern, so that `SP_X_` may differ from `SP_`.
fn filling_side(name: &str, notes: &Notes) -> Option<Side> {
    let matching = notes
        .prefixes
        .iter()
        .filter(|(prefix, _)| match prefix.contains('*') {
            true => matches(prefix, name),
            false => name.starts_with(prefix.as_str()),
        });
    matching
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|(_, side)| *side)
}

fn annotate_export(name: &str, function: &mut Function, notes: &Notes) {
    match notes.entry_points.get(name) {
        Some(evidence) => {
            state(
                &mut function.exported_by,
                Side::Plugin,
                Evidence::Notes(evidence.clone()),
            );
        }
        None => state(&mut function.exported_by, Side::Core, Evidence::Prefix),
    }
}
