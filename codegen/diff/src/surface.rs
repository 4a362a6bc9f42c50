//! One side of a diff: everything that a release, an include root or a file declares, as plain data.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::Api;
pub use sp_ir::Visibility;

/// The libraries that export a function, by the function's name.
pub type SideExports = BTreeMap<String, BTreeSet<String>>;

/// The declarations and exports of one side.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// The name in reports: `2.5`, or a path as the user gave it.
    pub label: String,
    /// The APIs, sorted by name.
    pub apis: Vec<Api>,
    /// The exports of the libraries, or `None` if they were not read. An empty set means that no library exports
    /// the function.
    pub exports: Option<SideExports>,
    /// The visibility of the functions, as their declarations state it, or `None` if no headers were parsed.
    pub visibility: Option<BTreeMap<String, Visibility>>,
    /// The only target that the side was read for, or `None` if the APIs contain the differences of other targets,
    /// as snapshots do.
    pub target: Option<String>,
}

impl Surface {
    /// Removes everything except `apis` and the items of other APIs that they use. An empty list keeps all.
    ///
    /// A complete side is then the same as one whose headers were parsed for `apis` only.
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

    /// Returns the names that `apis` use, directly and indirectly.
    fn used_by_apis(&self, apis: &[String]) -> BTreeSet<String> {
        let items: BTreeMap<&String, _> = self.apis.iter().flat_map(|api| &api.items).collect();
        let requested = self.apis.iter().filter(|api| apis.contains(&api.name));
        let mut pending: Vec<String> = requested
            .flat_map(|api| api.items.values())
            .flat_map(|item| item.used_types().into_keys())
            .collect();
        let mut used = BTreeSet::new();
        while let Some(name) = pending.pop() {
            if used.insert(name.clone()) {
                pending.extend(
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
