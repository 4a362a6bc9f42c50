//! Merges the definitions of an op in several releases.

use crate::definition::OpDef;
use crate::op::{Declared, Op};
use sp_ir::{Release, ReleaseSet};
use std::collections::BTreeSet;
use std::fmt::Display;

/// The definitions of an op, newest release first.
pub(crate) type Definitions<'a> = [(Release, &'a OpDef)];

/// Returns the op with these definitions; `known` are all releases of the table, oldest first.
pub(crate) fn merge(name: &str, definitions: &Definitions<'_>, known: &[Release]) -> Op {
    let releases: BTreeSet<Release> = definitions.iter().map(|(release, _)| *release).collect();
    Op {
        name: name.to_owned(),
        releases: ReleaseSet::from_known(known, |it| releases.contains(&it)),
        inputs: merge_items(definitions, known, |op| &op.inputs, |it| it.name.clone()),
        outputs: merge_items(definitions, known, |op| &op.outputs, |it| it.name.clone()),
        attributes: merge_items(
            definitions,
            known,
            |op| &op.attributes,
            |it| it.name.clone(),
        ),
        flags: merge_items(
            definitions,
            known,
            |op| &op.flags,
            |it| it.name().to_owned(),
        ),
    }
}

/// The declarations of an argument, attribute or flag, newest first.
struct MergedItem<'a, T> {
    name: String,
    declarations: Vec<SharedText<'a, T>>,
}

/// An item, the text of its line, and the releases with this text.
struct SharedText<'a, T> {
    item: &'a T,
    text: String,
    releases: BTreeSet<Release>,
}

/// Merges the items of each release into one list, in which the items of every release are in their order. The order
/// is the newest release's; an item that it lacks follows the item before it.
fn merge_items<'a, T: Clone + Display + 'a>(
    definitions: &Definitions<'a>,
    known: &[Release],
    items: impl Fn(&'a OpDef) -> &'a [T],
    name: impl Fn(&T) -> String,
) -> Vec<Declared<T>> {
    let mut merged: Vec<MergedItem<'a, T>> = Vec::new();
    for (release, op) in definitions {
        let mut next = 0;
        for item in items(op) {
            let name = name(item);
            let found = (next..merged.len()).find(|index| merged[*index].name == name);
            let index = found.unwrap_or_else(|| {
                let declarations = Vec::new();
                merged.insert(next, MergedItem { name, declarations });
                next
            });
            merged[index].add(item, *release);
            next = index + 1;
        }
    }
    let declared = merged.into_iter().flat_map(|item| item.declared(known));
    declared.collect()
}

impl<'a, T: Clone + Display> MergedItem<'a, T> {
    /// Adds the declaration of a release. Declarations are compared as text, in which NaN is equal to itself.
    fn add(&mut self, item: &'a T, release: Release) {
        let text = item.to_string();
        let known = self.declarations.iter_mut().find(|it| it.text == text);
        match known {
            Some(declaration) => drop(declaration.releases.insert(release)),
            None => self.declarations.push(SharedText {
                item,
                text,
                releases: BTreeSet::from([release]),
            }),
        }
    }

    /// Returns the declarations, oldest first.
    fn declared(mut self, known: &[Release]) -> Vec<Declared<T>> {
        self.declarations
            .sort_by_key(|it| it.releases.first().copied());
        let declared = self.declarations.into_iter().map(|it| Declared {
            item: it.item.clone(),
            releases: ReleaseSet::from_known(known, |release| it.releases.contains(&release)),
        });
        declared.collect()
    }
}
