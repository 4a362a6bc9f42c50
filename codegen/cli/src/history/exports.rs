//! Who exports a function, package by package: the releases whose wheel was read, and in which of them
//! which library has it.

use std::collections::BTreeMap;

use serde::Serialize;
use sp_ir::{Api, Function, History, Item, Side};

use sp_data::platform::Platform;
use sp_data::symbols::Symbols;

/// The wheels of a package for a platform, and what they have of one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exporter {
    /// `tensorflow-cpu`
    pub package: String,
    /// The platform, as the compiler calls it.
    pub platform: &'static str,
    /// The releases whose wheel was read.
    pub read: Vec<String>,
    /// Library to the releases in which it exports the function; empty where none does.
    pub libraries: BTreeMap<String, Vec<String>>,
}

impl Exporter {
    /// The libraries that export it in a release; nothing where that wheel was not read.
    pub fn libraries(&self, release: &String) -> Option<Vec<&str>> {
        let by = self.libraries.iter();
        let by = by.filter(|(_, releases)| releases.contains(release));
        let names = by.map(|(library, _)| library.as_str()).collect();
        self.read.contains(release).then_some(names)
    }
}

/// The exporters of every function that is core's to export, by its name.
pub struct Exports(BTreeMap<String, Vec<Exporter>>);

impl Exports {
    /// What `symbols` say of the functions that `apis` declare.
    pub fn of(apis: &[Api], symbols: &Symbols) -> Self {
        let mut known: BTreeMap<String, Vec<Exporter>> = BTreeMap::new();
        for (name, item) in apis.iter().flat_map(|api| &api.items) {
            if let Item::Function(function) = item
                && is_core(function)
                && !known.contains_key(name)
            {
                known.insert(name.clone(), exporters(symbols, &function.symbol));
            }
        }
        Self(known)
    }

    /// Whether some release declares the function and none of its wheels that were read has it.
    pub fn lacks(&self, history: &History, name: &str) -> bool {
        let epochs = history.functions.get(name).map_or(&[][..], Vec::as_slice);
        let mut declaring = epochs.iter().flat_map(|epoch| &epoch.releases);
        declaring.any(|release| {
            let exporters = self.get(name).iter();
            let read: Vec<_> = exporters.filter_map(|one| one.libraries(release)).collect();
            !read.is_empty() && read.iter().all(Vec::is_empty)
        })
    }

    /// Those of one function; none where it is not core's.
    pub fn get(&self, name: &str) -> &[Exporter] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

fn is_core(function: &Function) -> bool {
    let by = function.exported_by.as_ref().map(|by| by.value);
    !function.inline && by != Some(Side::Plugin)
}

fn exporters(symbols: &Symbols, symbol: &str) -> Vec<Exporter> {
    let known = symbols.availability(symbol);
    let mut found: BTreeMap<(String, Platform), Exporter> = BTreeMap::new();
    for cell in symbols.wheels() {
        let key = (cell.package.clone(), cell.platform);
        let exporter = found.entry(key).or_insert_with(|| Exporter {
            package: cell.package.clone(),
            platform: cell.platform.triple(),
            read: Vec::new(),
            libraries: BTreeMap::new(),
        });
        exporter.read.push(cell.release.to_string());
        for library in known.exported.get(&cell).into_iter().flatten() {
            let releases = exporter.libraries.entry(library.clone()).or_default();
            releases.push(cell.release.to_string());
        }
    }
    let mut found: Vec<Exporter> = found.into_values().collect();
    // What was read the furthest back says the most.
    found.sort_by_key(|exporter| std::cmp::Reverse(exporter.read.len()));
    found
}
