//! Adds the contract facts to declarations: the side that fills a field, its presence, the owner of a value.
//!
//! Each convention is a file. Later evidence takes precedence over earlier: prefix, then comment, then notes. Every
//! fact has its evidence.
//!
//! If a note takes precedence over the header's comment, the snapshot has both. So a changed comment in a user's
//! headers (`baseline`) is distinguished from the one for which the note was written.

mod baseline;
mod convention;
mod excluded;
mod marker;
pub mod notes;
mod ownership;
mod prefix;
pub mod required_fields;
mod transfer;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use sp_ir::{Evidence, Item, Stated};

use crate::clang::Comments;
pub use excluded::ExcludedHeaders;
pub use notes::{KnownNames, Notes, NotesError};

/// The items of one API, by name.
pub type Items = BTreeMap<String, Item>;

/// Adds to `items` all facts that follow from names, `comments` and `notes`. `known` has the names that other releases
/// declare: a note about one of those is not a mistake. With headers at hand, a comment that differs from the newest
/// known release's takes precedence over a note. A note for some releases applies only to those.
///
/// # Errors
/// Returns an error if a note contradicts a comment without `overrides`, has no evidence, or applies to no item.
pub fn annotate(
    items: &mut Items,
    comments: &Comments,
    notes: &Notes,
    known: &KnownNames,
    release: &str,
) -> Result<(), NotesError> {
    prefix::annotate(items, notes);
    ownership::annotate(items);
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

/// Sets a fact, unless evidence of higher precedence has set it.
fn state<T>(slot: &mut Option<Stated<T>>, value: T, evidence: Evidence) {
    let rank = |evidence: &Evidence| match evidence {
        Evidence::Prefix => 0,
        Evidence::Comment(_) => 1,
        Evidence::Notes(_) => 2,
        Evidence::Library => 3,
    };
    let takes_precedence = slot
        .as_ref()
        .is_none_or(|known| rank(&known.evidence) <= rank(&evidence));
    if takes_precedence {
        *slot = Some(Stated::new(value, evidence));
    }
}
