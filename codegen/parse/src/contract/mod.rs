//! From declarations to facts: who fills, who may leave empty, who owns.
//!
//! One convention per file. What a later convention says beats what an earlier one said:
//! prefix, then comment, then notes. Every fact carries its evidence.

mod baseline;
mod cleanup;
mod convention;
pub mod demands;
mod left_out;
mod marker;
pub mod notes;
mod prefix;
mod transfer;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use sp_ir::{Evidence, Item, Stated};

use crate::clang::Comments;
pub use left_out::LeftOut;
pub use notes::{Known, Notes, NotesError};

/// The items of one API, about which things become known.
pub type Items = BTreeMap<String, Item>;

/// States all facts about `items` that names, `comments` and `notes` give. `known` has the names that
/// some other release declares: a note about those is not a mistake. If the headers are at hand, a
/// comment that differs from the newest known release's takes precedence over a note. Notes that hold
/// for some releases apply only to those.
///
/// # Errors
/// Where a note contradicts a comment unannounced, has no evidence, or is used by nothing.
pub fn annotate(
    items: &mut Items,
    comments: &Comments,
    notes: &Notes,
    known: &Known,
    release: &str,
) -> Result<(), NotesError> {
    prefix::annotate(items, notes);
    cleanup::annotate(items);
    convention::annotate(items, comments);
    marker::annotate(items, comments);
    transfer::annotate(items, comments);
    let Some(baseline) = known.baseline(&notes.api) else {
        return notes.annotate(items, known, release);
    };
    let commented = items.clone();
    notes.annotate(items, known, release)?;
    baseline::prefer_changed_comments(items, &commented, baseline);
    Ok(())
}

/// States a fact, unless better evidence has stated it already.
fn state<T>(slot: &mut Option<Stated<T>>, value: T, evidence: Evidence) {
    let rank = |evidence: &Evidence| match evidence {
        Evidence::Prefix => 0,
        Evidence::Comment(_) => 1,
        Evidence::Notes(_) => 2,
        Evidence::Library => 3,
    };
    let is_better = slot
        .as_ref()
        .is_none_or(|known| rank(&known.evidence) <= rank(&evidence));
    if is_better {
        *slot = Some(Stated::new(value, evidence));
    }
}
