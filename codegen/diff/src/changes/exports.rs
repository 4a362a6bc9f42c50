//! The libraries that export the functions that both sides declare.

use std::collections::BTreeSet;

use sp_ir::{Function, Item, Side};

use crate::change::{Declaration, OldNew};
use crate::pair::SurfacePair;
use crate::rules::{Change, ChangeKind};
use crate::surface::Visibility;

/// Compares the exports if they are known for both sides.
pub fn compare<'p>(pair: &'p SurfacePair<'p>, found: &mut Vec<Change<'p>>) {
    let (Some(old_exports), Some(new_exports)) = (pair.old.exports, pair.new.exports) else {
        return;
    };
    for name in &pair.new.order {
        let new_entry = &pair.new.items[name];
        let (Item::Function(new), Some(old_entry)) = (&*new_entry.item, pair.old.items.get(name))
        else {
            continue;
        };
        let Item::Function(old) = &*old_entry.item else {
            continue;
        };
        if !is_exported_by_core(new) || !is_exported_by_core(old) {
            continue;
        }
        let libraries = OldNew::new(old_exports.get(&old.symbol), new_exports.get(&new.symbol));
        if let Some(kind) = compare_libraries(libraries) {
            found.push(Change {
                api: new_entry.api,
                item: (*name).to_string(),
                kind,
                old: Some(Declaration::Item(name, &old_entry.item)),
                new: Some(Declaration::Item(name, &new_entry.item)),
            });
        }
    }
}

/// Compares the marks of exports, if headers were parsed. Snapshots do not have them.
pub fn compare_marks<'p>(pair: &'p SurfacePair<'p>, found: &mut Vec<Change<'p>>) {
    let Some(new_marks) = pair.new.visibility else {
        return;
    };
    for name in &pair.new.order {
        let (new, old) = (&pair.new.items[name], pair.old.items.get(name));
        let (Item::Function(function), Some(old)) = (&*new.item, old) else {
            continue;
        };
        let old_mark = pair.old.visibility.and_then(|marks| marks.get(*name));
        let mark = removed_mark(old_mark, new_marks.get(*name));
        if let Some(mark) = mark.filter(|_| is_exported_by_core(function)) {
            found.push(Change {
                api: new.api,
                item: (*name).to_string(),
                kind: ChangeKind::ExportMarkRemoved(mark),
                old: Some(Declaration::Item(name, &old.item)),
                new: Some(Declaration::Item(name, &new.item)),
            });
        }
    }
}

/// Returns the end of the message about a function whose new declaration does not export it.
fn removed_mark(old: Option<&Visibility>, new: Option<&Visibility>) -> Option<&'static str> {
    match (old, new?) {
        (Some(Visibility::Hidden), _) => None,
        (_, Visibility::Hidden) => Some("now has hidden visibility"),
        (Some(Visibility::Exported), Visibility::Unmarked) => {
            Some("is no longer marked as exported")
        }
        _ => None,
    }
}

fn is_exported_by_core(function: &Function) -> bool {
    let exporter = function.exported_by.as_ref().map(|stated| stated.value);
    exporter != Some(Side::Plugin) && !function.inline
}

fn compare_libraries<'p>(libraries: OldNew<Option<&BTreeSet<String>>>) -> Option<ChangeKind<'p>> {
    let none = BTreeSet::new();
    let OldNew { old, new } = libraries.map(|libraries| libraries.unwrap_or(&none));
    let names = |libraries: &BTreeSet<String>| {
        let names: Vec<&str> = libraries.iter().map(String::as_str).collect();
        names.join(", ")
    };
    let both = || OldNew { old, new }.map(names);
    match (old.is_empty(), new.is_empty()) {
        (true, true) => None,
        (true, false) => Some(ChangeKind::SymbolExported(names(new))),
        (false, true) => Some(ChangeKind::SymbolDropped(names(old))),
        _ if old == new => None,
        _ if !old.is_disjoint(new) => Some(ChangeKind::SymbolShared(both())),
        _ => Some(ChangeKind::SymbolMoved(both())),
    }
}
