//! From two sides to all that differs between them: every difference of every fact that the IR has is
//! one change, or a consequence of one. Docs and places in headers are no facts.

mod constants;
mod enums;
mod exports;
mod facts;
mod frame;
mod functions;
mod items;
mod parameters;
mod records;
mod shift;
mod sizes;

use std::borrow::Cow;

use super::change::{Both, Change, Declared, Kind, Reason};
use super::pair::Pair;

/// All changes but those of versions, which the findings of the others decide on.
pub fn of<'p>(pair: &'p Pair) -> Vec<Change<'p>> {
    let mut found = of_items(pair);
    items::one_sided(pair, &mut found);
    exports::compare(pair, &mut found);
    found
}

/// Those of items that both sides have.
pub fn of_items<'p>(pair: &'p Pair) -> Vec<Change<'p>> {
    let mut found = Vec::new();
    items::compare(pair, &mut found);
    found
}

/// Where changes are gathered: the item at hand and its declarations.
struct Ledger<'l, 'p> {
    pair: &'p Pair<'p>,
    api: &'p str,
    path: Cow<'p, str>,
    old: Declared<'p>,
    new: Declared<'p>,
    found: &'l mut Vec<Change<'p>>,
}

impl<'p> Ledger<'_, 'p> {
    /// A change of the item itself.
    fn item(&mut self, kind: Kind<'p>) {
        let (old, new) = (Some(self.old), Some(self.new));
        let item = self.path.to_string();
        self.push(item, kind, old, new);
    }

    /// A change of a part of it.
    fn part(
        &mut self,
        part: &str,
        kind: Kind<'p>,
        old: Option<Declared<'p>>,
        new: Option<Declared<'p>>,
    ) {
        let item = format!("{}.{part}", self.path);
        self.push(item, kind, old, new);
    }

    fn push(
        &mut self,
        item: String,
        kind: Kind<'p>,
        old: Option<Declared<'p>>,
        new: Option<Declared<'p>>,
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

    /// The same for a part under its own path.
    fn at(&mut self, path: String, both: Both<Declared<'p>>) -> Ledger<'_, 'p> {
        Ledger {
            pair: self.pair,
            api: self.api,
            path: Cow::Owned(path),
            old: both.old,
            new: both.new,
            found: &mut *self.found,
        }
    }

    fn none(&mut self, reason: Reason) {
        self.item(Kind::None(reason));
    }
}
