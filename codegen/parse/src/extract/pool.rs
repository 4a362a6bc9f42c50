//! All declared items, and what each API takes of them: everything of its own headers; of those that
//! others use too, what its notes name, and what that needs.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::Item;

use crate::contract::{Items, Notes};

/// The items that no API has taken yet, by header.
#[derive(Default)]
pub struct Pool(BTreeMap<String, Items>);

impl Pool {
    /// All of them.
    pub fn new(items: Items) -> Self {
        let mut pool = Self::default();
        items
            .into_iter()
            .for_each(|(name, item)| pool.put(name, item));
        pool
    }

    fn put(&mut self, name: String, item: Item) {
        let file = &item.loc().file;
        if !self.0.contains_key(file) {
            self.0.insert(file.clone(), Items::new());
        }
        if let Some(items) = self.0.get_mut(&item.loc().file) {
            items.insert(name, item);
        }
    }

    /// Moves an API's items out; `claimed` is what others name of the headers that they share.
    pub fn take(&mut self, notes: &Notes, claimed: &BTreeSet<String>) -> Items {
        let files = self.0.keys().filter(|file| notes.has_header(file)).cloned();
        let (shared, own): (Vec<_>, Vec<_>) = files.partition(|file| notes.only_of(file).is_some());
        let mut mine = self.all_of(&own);
        let mut rest = self.all_of(&shared);
        let chosen = chosen(notes, claimed, &rest);
        mine.extend(chosen.iter().filter_map(|name| rest.remove_entry(name)));
        rest.into_iter()
            .for_each(|(name, item)| self.put(name, item));
        mine
    }

    fn all_of(&mut self, files: &[String]) -> Items {
        let items = files.iter().filter_map(|file| self.0.remove(file));
        items.flatten().collect()
    }
}

/// What `only` names, and what that uses, the same headers declare and nobody else names.
fn chosen(notes: &Notes, claimed: &BTreeSet<String>, shared: &Items) -> BTreeSet<String> {
    let is_named = |(name, item): &(&String, &Item)| {
        let only = notes.only_of(&item.loc().file);
        only.is_some_and(|only| only.contains(name))
    };
    let is_free = |name: &String| shared.contains_key(name) && !claimed.contains(name);
    let named = shared.iter().filter(is_named);
    let mut next: Vec<String> = named.map(|(name, _)| name.clone()).collect();
    let mut chosen = BTreeSet::new();
    while let Some(name) = next.pop() {
        let used = shared[&name].used_types().into_keys();
        if chosen.insert(name) {
            next.extend(used.filter(is_free));
        }
    }
    chosen
}
