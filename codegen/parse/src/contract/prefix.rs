//! "Struct prefix indicates whether struct fields should be filled by the plugin or core": the
//! conventions at the head of stream_executor.h, as the API's notes state them. A function is
//! core's unless the notes list it as an entry point.

use sp_ir::{Evidence, Function, Item, Side};

use super::notes::{Notes, matches};
use super::{Items, state};

/// States the sides that follow from names.
pub fn annotate(items: &mut Items, notes: &Notes) {
    for (name, item) in items {
        match item {
            Item::Struct(item) => {
                if let Some(side) = side_of(name, notes) {
                    state(&mut item.filled_by, side, Evidence::Prefix);
                }
            }
            Item::Function(item) if !item.inline => export(name, item, notes),
            _ => {}
        }
    }
}

/// The longest prefix or pattern wins, so that `SP_X_` may differ from `SP_`.
fn side_of(name: &str, notes: &Notes) -> Option<Side> {
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

fn export(name: &str, function: &mut Function, notes: &Notes) {
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
