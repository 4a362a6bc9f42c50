//! Resolves the names that an API uses and does not declare. Another API declares them, or another header of the
//! include root. A type that nothing declares is opaque if only pointers to it are used.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Handle, Imports, Item, Loc};

use super::error::UnreadableReason;
use super::{Job, UnreadableApi, parse};
use crate::clang::{self, Comments, ParseInput};
use crate::contract::{Items, Notes};

/// An API without contract facts.
pub struct Draft<'a> {
    /// The API's notes.
    pub notes: &'a Notes,
    /// The API's declarations.
    pub items: Items,
    /// The used names that other APIs declare, with the API.
    pub imports: Imports,
}

/// The use of a type's name by an item.
struct TypeUse {
    name: String,
    item: String,
    loc: Loc,
    by_value: bool,
}

impl<'a> Draft<'a> {
    /// Returns a draft with the items of the API's own headers.
    pub fn new(notes: &'a Notes, items: Items) -> Self {
        Self {
            notes,
            items,
            imports: Imports::new(),
        }
    }

    /// Returns the uses of names that no API declares.
    fn missing(&self, owners: &BTreeMap<String, String>) -> Vec<TypeUse> {
        let mut uses = Vec::new();
        for (name, item) in &self.items {
            let known = |used: &str| owners.contains_key(used) || self.imports.contains_key(used);
            let missing = item.used_types().into_iter();
            let missing = missing.filter(|(used, _)| !known(used));
            uses.extend(missing.map(|(used, by_value)| TypeUse {
                name: used,
                item: name.clone(),
                loc: item.loc().clone(),
                by_value,
            }));
        }
        uses
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

/// Resolves every used name. Returns the APIs that use an undeclared name by value, and the names that were found outside
/// of the APIs' headers.
pub fn resolve(
    job: &Job<'_>,
    input: &ParseInput,
    drafts: &mut [Draft<'_>],
    comments: &mut Comments,
) -> (Vec<UnreadableApi>, BTreeSet<String>) {
    let (mut unreadable, mut added) = (Vec::new(), BTreeSet::new());
    let owners = owners(drafts);
    for draft in drafts.iter_mut() {
        let missing = draft.missing(&owners);
        if missing.is_empty() {
            continue;
        }
        let names = add_missing(job, input, draft, missing, &owners, comments);
        match names {
            Ok(names) => added.extend(names),
            Err(reason) => unreadable.push(UnreadableApi {
                api: draft.notes.api.clone(),
                reason,
            }),
        }
    }
    let owners = self::owners(drafts);
    drafts.iter_mut().for_each(|draft| draft.import(&owners));
    (unreadable, added)
}

/// Returns each declared name with the first API that declares it.
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

/// Adds the missing declarations to `draft`, and returns their names.
fn add_missing(
    job: &Job<'_>,
    input: &ParseInput,
    draft: &mut Draft<'_>,
    mut missing: Vec<TypeUse>,
    owners: &BTreeMap<String, String>,
    comments: &mut Comments,
) -> Result<BTreeSet<String>, UnreadableReason> {
    let own = parse::input_of_api(draft.notes, input);
    let mut reached = clang::reachable_declarations(&own)?;
    let mut added = BTreeSet::new();
    while let Some(used) = missing.pop() {
        let declared = reached.items.remove(&used.name);
        let owner = declared.as_ref().and_then(|item| owner_of(job, item));
        match (declared, owner) {
            _ if draft.items.contains_key(&used.name) => continue,
            (Some(_), Some(owner)) if owner != draft.notes.api => {
                draft.imports.insert(used.name, owner);
                continue;
            }
            (Some(item), _) => drop(draft.items.insert(used.name.clone(), item)),
            (None, _) if used.by_value => {
                let (item, missing) = (used.item, used.name);
                return Err(UnreadableReason::Undeclared { item, missing });
            }
            (None, _) => drop(draft.items.insert(used.name.clone(), opaque(used.loc))),
        }
        comments.take_item(&used.name, &mut reached.comments);
        added.insert(used.name);
        missing = draft.missing(owners);
        missing.retain(|used| !draft.items.contains_key(&used.name));
        // Uses by value are resolved first: they are errors if the type is not declared.
        missing.sort_by_key(|used| used.by_value);
    }
    Ok(added)
}

/// Returns the API to which the whole header of `item` belongs, or `None` if there is none.
fn owner_of(job: &Job<'_>, item: &Item) -> Option<String> {
    let header = &item.loc().file;
    let owns = |notes: &&Notes| notes.has_header(header) && notes.only_of(header).is_none();
    job.notes.iter().find(owns).map(|notes| notes.api.clone())
}

/// Returns the item of an undeclared type.
fn opaque(loc: Loc) -> Item {
    Item::Handle(Handle::new(false, loc))
}
