//! Cargo features of the generated crate: one per API, which turns on those that it refers to, so
//! that an author pays only for what is on.
//!
//! Where APIs refer to each other in a ring, the edge that fewest functions need is cut: those
//! functions are there only with the other feature on.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Api, Item};

use super::catalog::Catalog;
use super::closure::names;

/// What a scaffolded plugin is written against.
const DEFAULT: &[&str] = &[
    "kernels",
    "stream_executor",
    "tf_datatype",
    "tf_status",
    "tf_tensor",
];

/// The features, and which items stand behind another API's.
pub struct Features<'a> {
    needs: BTreeMap<&'a str, BTreeSet<&'a str>>,
    gates: BTreeMap<&'a str, BTreeSet<&'a str>>,
    cut: BTreeSet<(&'a str, &'a str)>,
}

/// The items of one API that mention another.
type Edges<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>>;

impl<'a> Features<'a> {
    /// What the items' types ask for.
    pub fn of(apis: &'a [Api], catalog: &Catalog<'a>) -> Self {
        let edges = edges(apis, catalog);
        let mut features = Self {
            needs: apis
                .iter()
                .map(|api| (api.name.as_str(), BTreeSet::new()))
                .collect(),
            gates: BTreeMap::new(),
            cut: BTreeSet::new(),
        };
        for (from, to) in edges.keys() {
            features.needs.entry(from).or_default().insert(to);
        }
        while let Some(edge) = features.weakest(&edges, catalog) {
            features.needs.entry(edge.0).or_default().remove(edge.1);
            features.cut.insert(edge);
            for item in &edges[&edge] {
                features.gates.entry(item).or_default().insert(edge.1);
            }
        }
        features
    }

    /// The edge of a ring to cut next: one that only functions need, as few as possible.
    fn weakest(&self, edges: &Edges<'a>, catalog: &Catalog<'a>) -> Option<(&'a str, &'a str)> {
        let function = |name: &&str| matches!(catalog.item(name), Some(Item::Function(_)));
        let candidates = edges.iter().filter(|((from, to), items)| {
            self.needs[from].contains(to)
                && self.closure(to).contains(from)
                && items.iter().all(&function)
        });
        let weakest = candidates.min_by_key(|(edge, items)| (items.len(), **edge));
        weakest.map(|(edge, _)| *edge)
    }

    /// Every API that `api` turns on.
    fn closure(&self, api: &str) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> = vec![api];
        while let Some(next) = open.pop() {
            for needed in self.needs.get(next).into_iter().flatten() {
                if found.insert(*needed) {
                    open.push(needed);
                }
            }
        }
        found
    }

    /// The features that must be on beside its own API's for `item` to be there.
    pub fn gates(&self, item: &str) -> impl Iterator<Item = &'a str> {
        self.gates.get(item).into_iter().flatten().copied()
    }

    /// Whether only items behind a gate use what `to` has.
    pub fn is_cut(&self, from: &str, to: &str) -> bool {
        self.cut.contains(&(from, to))
    }

    /// The manifest's section.
    pub fn manifest(&self) -> String {
        let list = |names: &mut dyn Iterator<Item = &str>| {
            let quoted: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
            quoted.join(", ")
        };
        let default = DEFAULT.iter().filter(|it| self.needs.contains_key(**it));
        let default = list(&mut default.copied());
        let mut text = format!("[features]\ndefault = [{default}]\n");
        for (name, needs) in &self.needs {
            text += &format!("{name} = [{}]\n", list(&mut needs.iter().copied()));
        }
        text
    }
}

fn edges<'a>(apis: &'a [Api], catalog: &Catalog<'a>) -> Edges<'a> {
    let mut edges = Edges::new();
    for api in apis {
        for (name, item) in &api.items {
            let homes = names(item).into_iter().filter_map(|it| catalog.home(it));
            for home in homes.filter(|home| *home != api.name) {
                let edge = (api.name.as_str(), home);
                edges.entry(edge).or_default().insert(name.as_str());
            }
        }
    }
    edges
}
