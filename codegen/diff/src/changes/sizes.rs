//! The size macro of a struct, as far as added and removed members do not explain its change.

use sp_ir::{Field, Struct};

use super::Changes;
use super::record_pair::RecordPair;
use crate::change::{OldNew, UnreportedReason};
use crate::rules::ChangeKind;

/// Compares the size macros of a struct. `is_explained` is true if another change of the struct changes the size.
pub fn compare<'p>(
    changes: &mut Changes<'_, 'p>,
    record: &RecordPair<'p>,
    structs: OldNew<&'p Struct>,
    is_explained: bool,
) {
    match (&structs.old.struct_size, &structs.new.struct_size) {
        (None, None) => {}
        (None, Some(size)) => changes.push_item(ChangeKind::StructSizeAdded(size)),
        (Some(size), None) => changes.push_item(ChangeKind::StructSizeDropped(size)),
        (Some(old), Some(new)) => {
            let size = OldNew { old, new };
            if old.symbol != new.symbol {
                changes.push_item(ChangeKind::StructSizeRenamed(size));
            }
            let uncovered = OldNew::new(
                uncovered(&structs.old.fields, old.value),
                uncovered(&structs.new.fields, new.value),
            );
            let lost = covered_by(&uncovered.new, &structs.old.fields, old.value);
            let gained = covered_by(&uncovered.old, &structs.new.fields, new.value);
            if !lost.is_empty() {
                let layout = record.layout_change(lost, &[]);
                changes.push_item(ChangeKind::StructSizeShrunk(size, layout));
            } else if !gained.is_empty() {
                let layout = record.layout_change(gained, &[]);
                changes.push_item(ChangeKind::StructSizeCorrected(size, layout));
            } else if old.value != new.value && !is_explained {
                let layout = record.layout_change(Vec::new(), &[]);
                changes.push_item(match new.value < old.value {
                    true => ChangeKind::StructSizeShrunk(size, layout),
                    false => ChangeKind::StructSizeCorrected(size, layout),
                });
            } else if old.value != new.value || old.last_field != new.last_field {
                changes.push_unreported(UnreportedReason::Consequence);
            }
        }
    }
}

/// Returns those of `fields` that are in `other` and that the other side's `size` covers.
fn covered_by<'p>(fields: &[&'p Field], other: &[Field], size: u64) -> Vec<&'p Field> {
    let is_covered = |field: &&&'p Field| {
        other
            .iter()
            .any(|other| other.name == field.name && other.offset + other.size <= size)
    };
    fields.iter().filter(is_covered).copied().collect()
}

/// Returns the members that `size` does not cover.
fn uncovered(fields: &[Field], size: u64) -> Vec<&Field> {
    fields
        .iter()
        .filter(|field| field.offset + field.size > size)
        .collect()
}
