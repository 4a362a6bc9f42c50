//! One side of a diff: all that a release, an include root or a file declares, as plain data.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::Api;

/// The libraries that export a function, by the function's name.
pub type Exports = BTreeMap<String, BTreeSet<String>>;

/// What one side declares and exports.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// What it is called in a report: `2.5`, or a path as it was given.
    pub label: String,
    /// Its APIs, sorted by name.
    pub apis: Vec<Api>,
    /// What its libraries export, where they were read. An empty set is a function of none.
    pub exports: Option<Exports>,
    /// The one target that it was read for; none where its APIs say how others differ, as snapshots
    /// do.
    pub target: Option<String>,
}

impl Surface {
    /// Keeps `apis`, and of the others what these use: the same part of a side whose headers were
    /// parsed for `apis` alone and of one that is known whole. No APIs stand for all.
    pub fn restrict(&mut self, apis: &[String]) {
        if apis.is_empty() {
            return;
        }
        let used = self.used_by_apis(apis);
        for api in &mut self.apis {
            if !apis.contains(&api.name) {
                api.items.retain(|name, _| used.contains(name));
            }
        }
        self.apis
            .retain(|api| apis.contains(&api.name) || !api.items.is_empty());
    }

    /// Returns the names that `apis` use, and those that these use in turn.
    fn used_by_apis(&self, apis: &[String]) -> BTreeSet<String> {
        let items: BTreeMap<&String, _> = self.apis.iter().flat_map(|api| &api.items).collect();
        let asked = self.apis.iter().filter(|api| apis.contains(&api.name));
        let mut open: Vec<String> = asked
            .flat_map(|api| api.items.values())
            .flat_map(|item| item.used_types().into_keys())
            .collect();
        let mut used = BTreeSet::new();
        while let Some(name) = open.pop() {
            if used.insert(name.clone()) {
                open.extend(
                    items
                        .get(&name)
                        .into_iter()
                        .flat_map(|item| item.used_types().into_keys()),
                );
            }
        }
        used
    }
}
