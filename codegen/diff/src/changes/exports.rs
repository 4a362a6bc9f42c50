//! Which libraries export what is declared on both sides.

use sp_ir::{Function, Item, Side};

use super::super::change::{Both, Change, Declared, Kind};
use crate::pair::Pair;
use crate::surface::Exports;

/// Compares exports, where both sides' libraries were read.
pub fn compare<'p>(pair: &'p Pair<'p>, found: &mut Vec<Change<'p>>) {
    let (Some(was), Some(is)) = (pair.old.exports, pair.new.exports) else {
        return;
    };
    for name in &pair.new.order {
        let entry = &pair.new.items[name];
        let (Item::Function(new), Some(old)) = (&*entry.item, pair.old.items.get(name)) else {
            continue;
        };
        let Item::Function(before) = &*old.item else {
            continue;
        };
        if plugins(new) || plugins(before) || new.inline || before.inline {
            continue;
        }
        if let Some(kind) = libraries(was, &before.symbol, is, &new.symbol) {
            found.push(Change {
                api: entry.api,
                item: (*name).to_string(),
                kind,
                old: Some(Declared::Item(name, &old.item)),
                new: Some(Declared::Item(name, &entry.item)),
            });
        }
    }
}

/// Whether the plugin defines it.
fn plugins(function: &Function) -> bool {
    function.exported_by.as_ref().map(|it| it.value) == Some(Side::Plugin)
}

fn libraries<'p>(was: &Exports, old: &str, is: &Exports, new: &str) -> Option<Kind<'p>> {
    let none = Default::default();
    let before = was.get(old).unwrap_or(&none);
    let after = is.get(new).unwrap_or(&none);
    let names = |all: &std::collections::BTreeSet<String>| {
        all.iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let both = || Both {
        old: names(before),
        new: names(after),
    };
    match (before.is_empty(), after.is_empty()) {
        (true, true) => None,
        (true, false) => Some(Kind::SymbolExported(names(after))),
        (false, true) => Some(Kind::SymbolDropped(names(before))),
        _ if before == after => None,
        _ if !before.is_disjoint(after) => Some(Kind::SymbolShared(both())),
        _ => Some(Kind::SymbolMoved(both())),
    }
}
