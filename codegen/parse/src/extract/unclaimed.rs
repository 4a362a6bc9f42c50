//! Distributes the declared items to APIs. An API takes all items of its own headers. Of a header that it shares it
//! takes the items that its notes name, and those that these use.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::Item;

use crate::contract::{Items, Notes};

/// The items that no API has taken yet, by header.
#[derive(Default)]
pub struct UnclaimedItems(BTreeMap<String, Items>);

impl UnclaimedItems {
    /// Returns `items` by header.
    pub fn new(items: Items) -> Self {
        let mut unclaimed = Self::default();
        unclaimed.extend(items);
        unclaimed
    }

    fn extend(&mut self, items: Items) {
        for (name, item) in items {
            self.insert(name, item);
        }
    }

    fn insert(&mut self, name: String, item: Item) {
        let file = &item.loc().file;
        if !self.0.contains_key(file) {
            self.0.insert(file.clone(), Items::new());
        }
        if let Some(items) = self.0.get_mut(&item.loc().file) {
            items.insert(name, item);
        }
    }

    /// Removes and returns an API's items. `claimed` has the items of shared headers that other APIs name.
    pub fn take(&mut self, notes: &Notes, claimed: &BTreeSet<String>) -> Items {
        let files = self.0.keys().filter(|file| notes.has_header(file)).cloned();
        let (shared, own): (Vec<_>, Vec<_>) = files.partition(|file| notes.only_of(file).is_some());
        let mut items = self.remove_files(&own);
        let mut rest = self.remove_files(&shared);
        let selected = select_shared(notes, claimed, &rest);
        items.extend(selected.iter().filter_map(|name| rest.remove_entry(name)));
        self.extend(rest);
        items
    }

    fn remove_files(&mut self, files: &[String]) -> Items {
        let items = files.iter().filter_map(|file| self.0.remove(file));
        items.flatten().collect()
    }
}

/// Returns the items of shared headers that `only` names, and those that these use and no other API names.
fn select_shared(notes: &Notes, claimed: &BTreeSet<String>, shared: &Items) -> BTreeSet<String> {
    let is_named = |(name, item): &(&String, &Item)| {
        let only = notes.only_of(&item.loc().file);
        only.is_some_and(|only| only.contains(name))
    };
    let is_free = |name: &String| shared.contains_key(name) && !claimed.contains(name);
    let named = shared.iter().filter(is_named);
    let mut pending: Vec<String> = named.map(|(name, _)| name.clone()).collect();
    let mut selected = BTreeSet::new();
    while let Some(name) = pending.pop() {
        let used = shared[&name].used_types().into_keys();
        if selected.insert(name) {
            pending.extend(used.filter(is_free));
        }
    }
    selected
}
