//! Cargo features of the generated crate: one for each API, which enables the features of the APIs that it
//! refers to. An author compiles only the APIs that a plugin uses.
//!
//! If APIs refer to each other in a cycle, the reference that the fewest functions need is removed. These
//! functions exist only if the other feature is enabled.
//!
//! A module whose feature is off is not parsed, so an unused API costs a build nothing. Its sources are vendored
//! still, so that an author can turn on any feature with cargo alone, offline; `next_pluggable_device` needs `pjrt`
//! too.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Api, Item};

use super::catalog::Catalog;
use super::references::names;

/// The features, and the items that need the feature of another API.
pub struct Features<'a> {
    dependencies: BTreeMap<&'a str, BTreeSet<&'a str>>,
    gates: BTreeMap<&'a str, BTreeSet<&'a str>>,
    removed: BTreeSet<(&'a str, &'a str)>,
}

/// The items of one API that refer to another API, by these two APIs.
type References<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>>;

impl<'a> Features<'a> {
    /// Computes the features from the items' types.
    pub fn new(apis: &'a [Api], catalog: &Catalog<'a>) -> Self {
        let references = references(apis, catalog);
        let mut features = Self {
            dependencies: apis
                .iter()
                .map(|api| (api.name.as_str(), BTreeSet::new()))
                .collect(),
            gates: BTreeMap::new(),
            removed: BTreeSet::new(),
        };
        for (from, to) in references.keys() {
            features.dependencies.entry(from).or_default().insert(to);
        }
        while let Some(edge) = features.reference_to_remove(&references, catalog) {
            features
                .dependencies
                .entry(edge.0)
                .or_default()
                .remove(edge.1);
            features.removed.insert(edge);
            for item in &references[&edge] {
                features.gates.entry(item).or_default().insert(edge.1);
            }
        }
        features
    }

    /// Returns the reference of a cycle to remove next: one that only functions need, as few as possible.
    fn reference_to_remove(
        &self,
        references: &References<'a>,
        catalog: &Catalog<'a>,
    ) -> Option<(&'a str, &'a str)> {
        let is_function = |name: &&str| matches!(catalog.item(name), Some(Item::Function(_)));
        let candidates = references.iter().filter(|((from, to), items)| {
            self.dependencies[from].contains(to)
                && self.transitive(to).contains(from)
                && items.iter().all(&is_function)
        });
        let smallest = candidates.min_by_key(|(edge, items)| (items.len(), **edge));
        smallest.map(|(edge, _)| *edge)
    }

    /// Returns all APIs that the feature of `api` enables.
    fn transitive(&self, api: &str) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> = vec![api];
        while let Some(next) = open.pop() {
            for needed in self.dependencies.get(next).into_iter().flatten() {
                if found.insert(*needed) {
                    open.push(needed);
                }
            }
        }
        found
    }

    /// Returns the features that `item` needs besides that of its own API.
    pub fn gates(&self, item: &str) -> impl Iterator<Item = &'a str> {
        self.gates.get(item).into_iter().flatten().copied()
    }

    /// Returns true if the items of `from` that refer to `to` need its feature.
    pub fn is_gated(&self, from: &str, to: &str) -> bool {
        self.removed.contains(&(from, to))
    }

    /// Returns each feature with the features that it enables.
    pub fn dependencies(&self) -> &BTreeMap<&'a str, BTreeSet<&'a str>> {
        &self.dependencies
    }
}

fn references<'a>(apis: &'a [Api], catalog: &Catalog<'a>) -> References<'a> {
    let mut references = References::new();
    for api in apis {
        for (name, item) in &api.items {
            let used_apis = names(item)
                .into_iter()
                .filter_map(|it| catalog.declaring_api(it));
            for used in used_apis.filter(|used| *used != api.name) {
                let edge = (api.name.as_str(), used);
                references.entry(edge).or_default().insert(name.as_str());
            }
        }
    }
    references
}
