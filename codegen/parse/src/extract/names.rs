//! The names that an API uses and does not declare, and their sources: from each other, from other headers
//! of the include root, or from nowhere if only pointers to the type are used.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Handle, Imports, Item, Loc};

use super::problem::Reason;
use super::{Job, Unread, read};
use crate::clang::{self, Comments, Source};
use crate::contract::{Items, Notes};

/// An API whose facts are not stated yet.
pub struct Draft<'a> {
    /// Its notes.
    pub notes: &'a Notes,
    /// Its declarations.
    pub items: Items,
    /// The names that other APIs declare, with the API.
    pub imports: Imports,
}

/// How an item uses a name.
struct Use {
    name: String,
    item: String,
    loc: Loc,
    by_value: bool,
}

impl<'a> Draft<'a> {
    /// An API with the items of its own headers.
    pub fn new(notes: &'a Notes, items: Items) -> Self {
        Self {
            notes,
            items,
            imports: Imports::new(),
        }
    }

    /// Returns the uses of names that neither this API nor `imports` has.
    fn missing(&self, owners: &BTreeMap<String, String>) -> Vec<Use> {
        let mut found = Vec::new();
        for (name, item) in &self.items {
            let known = |used: &str| owners.contains_key(used) || self.imports.contains_key(used);
            let missing = item
                .used_types()
                .into_iter()
                .filter(|(used, _)| !known(used));
            found.extend(missing.map(|(used, by_value)| Use {
                name: used,
                item: name.clone(),
                loc: item.loc().clone(),
                by_value,
            }));
        }
        found
    }

    fn import(&mut self, owners: &BTreeMap<String, String>) {
        for item in self.items.values() {
            for name in item.used_types().into_keys() {
                if let Some(owner) = owners.get(&name).filter(|api| **api != self.notes.api) {
                    self.imports.insert(name, owner.clone());
                }
            }
        }
    }
}

/// Gives every name an owner. Returns the APIs that use an undeclared name by value, and the names
/// that were found outside of the APIs' headers.
pub fn resolve(
    job: &Job<'_>,
    source: &Source,
    drafts: &mut [Draft<'_>],
    comments: &mut Comments,
) -> (Vec<Unread>, BTreeSet<String>) {
    let (mut unread, mut taken) = (Vec::new(), BTreeSet::new());
    let owners = owners(drafts);
    for draft in drafts.iter_mut() {
        let missing = draft.missing(&owners);
        if missing.is_empty() {
            continue;
        }
        let names = find(job, source, draft, missing, &owners, comments);
        match names {
            Ok(names) => taken.extend(names),
            Err(reason) => unread.push(Unread {
                api: draft.notes.api.clone(),
                reason,
            }),
        }
    }
    let owners = self::owners(drafts);
    drafts.iter_mut().for_each(|draft| draft.import(&owners));
    (unread, taken)
}

/// Each name with the first API that declares it.
fn owners(drafts: &[Draft<'_>]) -> BTreeMap<String, String> {
    let mut owners = BTreeMap::new();
    for draft in drafts {
        for name in draft.items.keys() {
            let api = || draft.notes.api.clone();
            owners.entry(name.clone()).or_insert_with(api);
        }
    }
    owners
}

/// Adds to `draft` what its headers leave out, and returns the names.
fn find(
    job: &Job<'_>,
    source: &Source,
    draft: &mut Draft<'_>,
    mut missing: Vec<Use>,
    owners: &BTreeMap<String, String>,
    comments: &mut Comments,
) -> Result<BTreeSet<String>, Reason> {
    let own = read::of_api(draft.notes, source);
    let mut reached = clang::reachable_declarations(&own)?;
    let mut taken = BTreeSet::new();
    while let Some(used) = missing.pop() {
        let found = reached.items.remove(&used.name);
        let owner = found.as_ref().and_then(|item| owner_of(job, item));
        match (found, owner) {
            _ if draft.items.contains_key(&used.name) => continue,
            (Some(_), Some(owner)) if owner != draft.notes.api => {
                draft.imports.insert(used.name, owner);
                continue;
            }
            (Some(item), _) => drop(draft.items.insert(used.name.clone(), item)),
            (None, _) if used.by_value => {
                let (item, missing) = (used.item, used.name);
                return Err(Reason::Undeclared { item, missing });
            }
            (None, _) => drop(draft.items.insert(used.name.clone(), opaque(used.loc))),
        }
        comments.take(&used.name, &mut reached.comments);
        taken.insert(used.name);
        missing = draft.missing(owners);
        missing.retain(|one| !draft.items.contains_key(&one.name));
        // A use by value decides, wherever it stands.
        missing.sort_by_key(|one| one.by_value);
    }
    Ok(taken)
}

/// Returns the API that has all of the header of `item`, if it is another API's.
fn owner_of(job: &Job<'_>, item: &Item) -> Option<String> {
    let header = &item.loc().file;
    let owns = |notes: &&Notes| notes.has_header(header) && notes.only_of(header).is_none();
    job.notes.iter().find(owns).map(|notes| notes.api.clone())
}

/// A type of which only pointers are used.
fn opaque(loc: Loc) -> Item {
    Item::Handle(Handle {
        doc: None,
        pointer: false,
        rust: None,
        loc,
    })
}
