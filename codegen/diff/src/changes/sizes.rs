//! What the size macro says, beyond what the members that came and went explain.

use sp_ir::{Field, Struct};

use super::Ledger;
use super::frame::Frame;
use crate::change::{Both, Kind, Reason};

/// The size macro of a struct that both sides have. `came` are the members that came or went.
pub fn compare<'p>(
    ledger: &mut Ledger<'_, 'p>,
    frame: &Frame<'p>,
    both: Both<&'p Struct>,
    relaid_at_all: bool,
) {
    match (&both.old.struct_size, &both.new.struct_size) {
        (None, None) => {}
        (None, Some(size)) => ledger.item(Kind::SizeAdded(size)),
        (Some(size), None) => ledger.item(Kind::SizeDropped(size)),
        (Some(old), Some(new)) => {
            let size = Both { old, new };
            if old.symbol != new.symbol {
                ledger.item(Kind::SizeRenamed(size));
            }
            let uncovered = Both {
                old: beyond(&both.old.fields, old.value),
                new: beyond(&both.new.fields, new.value),
            };
            let lost = still(&uncovered.new, &both.old.fields, old.value);
            let found = still(&uncovered.old, &both.new.fields, new.value);
            if !lost.is_empty() {
                let relaid = frame.relaid(lost, &[]);
                ledger.item(Kind::SizeShrunk(size, relaid));
            } else if !found.is_empty() {
                let relaid = frame.relaid(found, &[]);
                ledger.item(Kind::SizeCorrected(size, relaid));
            } else if old.value != new.value && !relaid_at_all {
                let relaid = frame.relaid(Vec::new(), &[]);
                let shrunk = new.value < old.value;
                let kind = if shrunk {
                    Kind::SizeShrunk
                } else {
                    Kind::SizeCorrected
                };
                ledger.item(kind(size, relaid));
            } else if old.value != new.value || old.last_field != new.last_field {
                ledger.none(Reason::Follows);
            }
        }
    }
}

/// Those of `fields` that the other side has within its size.
fn still<'p>(fields: &[&'p Field], other: &[Field], size: u64) -> Vec<&'p Field> {
    let there = |one: &&&'p Field| {
        other
            .iter()
            .any(|it| it.name == one.name && it.offset + it.size <= size)
    };
    fields.iter().filter(there).copied().collect()
}

/// The members that a size leaves out.
fn beyond(fields: &[Field], size: u64) -> Vec<&Field> {
    fields
        .iter()
        .filter(|one| one.offset + one.size > size)
        .collect()
}
