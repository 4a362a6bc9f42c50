//! Finds all differences between two sides. Every difference of a fact in the IR is one change, or a consequence of one.
//! Docs and locations in headers are not compared.

mod constants;
mod enums;
mod exports;
mod facts;
mod field_moves;
mod functions;
mod items;
mod parameters;
mod record_pair;
mod records;
mod sizes;

use std::borrow::Cow;

use super::change::{Declaration, OldNew, UnreportedReason};
use super::pair::SurfacePair;
use super::rules::{Change, ChangeKind};

/// Returns all changes except those of versions, which depend on the findings about the others.
pub fn find<'p>(pair: &'p SurfacePair) -> Vec<Change<'p>> {
    let mut found = find_in_common_items(pair);
    items::compare_one_sided(pair, &mut found);
    exports::compare(pair, &mut found);
    exports::compare_marks(pair, &mut found);
    found
}

/// Returns the changes of items that both sides have.
pub fn find_in_common_items<'p>(pair: &'p SurfacePair) -> Vec<Change<'p>> {
    let mut found = Vec::new();
    items::compare(pair, &mut found);
    found
}

/// Collects the changes of one item.
struct Changes<'l, 'p> {
    pair: &'p SurfacePair<'p>,
    api: &'p str,
    path: Cow<'p, str>,
    old: Declaration<'p>,
    new: Declaration<'p>,
    found: &'l mut Vec<Change<'p>>,
}

impl<'p> Changes<'_, 'p> {
    /// Adds a change of the item itself.
    fn push_item(&mut self, kind: ChangeKind<'p>) {
        let (old, new) = (Some(self.old), Some(self.new));
        let item = self.path.to_string();
        self.push(item, kind, old, new);
    }

    /// Adds a change of a member or enumerator.
    fn push_part(
        &mut self,
        part: &str,
        kind: ChangeKind<'p>,
        old: Option<Declaration<'p>>,
        new: Option<Declaration<'p>>,
    ) {
        let item = format!("{}.{part}", self.path);
        self.push(item, kind, old, new);
    }

    fn push(
        &mut self,
        item: String,
        kind: ChangeKind<'p>,
        old: Option<Declaration<'p>>,
        new: Option<Declaration<'p>>,
    ) {
        let api = self.api;
        self.found.push(Change {
            api,
            item,
            kind,
            old,
            new,
        });
    }

    fn push_unreported(&mut self, reason: UnreportedReason) {
        self.push_item(ChangeKind::Unreported(reason));
    }

    /// Returns a collector for a part with its own path and declarations.
    fn for_part(&mut self, path: String, declarations: OldNew<Declaration<'p>>) -> Changes<'_, 'p> {
        Changes {
            pair: self.pair,
            api: self.api,
            path: Cow::Owned(path),
            old: declarations.old,
            new: declarations.new,
            found: &mut *self.found,
        }
    }

    fn declarations(&self) -> OldNew<Declaration<'p>> {
        OldNew::new(self.old, self.new)
    }
}
