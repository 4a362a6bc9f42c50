//! The libraries that export a function, by package, platform and release.

use std::collections::BTreeMap;

use serde::Serialize;
use sp_ir::{Api, History};

use sp_data::platform::WheelPlatform;
use sp_data::symbols::Symbols;

/// The libraries in a package's wheels for a platform that export one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exporter {
    /// The package, such as `tensorflow-cpu`.
    pub package: String,
    /// The target triple of the platform.
    pub platform: &'static str,
    /// The releases whose wheel was read.
    pub releases: Vec<String>,
    /// The releases in which a library exports the function, by library.
    pub libraries: BTreeMap<String, Vec<String>>,
}

impl Exporter {
    /// Returns the libraries that export the function in a release, or `None` if the wheel was not read.
    pub fn libraries(&self, release: &String) -> Option<Vec<&str>> {
        let libraries = self.libraries.iter();
        let libraries = libraries.filter(|(_, releases)| releases.contains(release));
        let names = libraries.map(|(library, _)| library.as_str()).collect();
        self.releases.contains(release).then_some(names)
    }
}

/// The exporters of all functions that core exports, by function.
pub struct FunctionExporters(BTreeMap<String, Vec<Exporter>>);

impl FunctionExporters {
    /// Finds the exporters of the functions that `apis` declare.
    pub fn find(apis: &[Api], symbols: &Symbols) -> Self {
        let mut known: BTreeMap<String, Vec<Exporter>> = BTreeMap::new();
        for (name, item) in apis.iter().flat_map(|api| &api.items) {
            if let Some(function) = item.as_function()
                && function.is_exported_by_core()
                && !known.contains_key(name)
            {
                known.insert(name.clone(), exporters(symbols, &function.symbol));
            }
        }
        Self(known)
    }

    /// Returns true if a release declares the function and none of the release's wheels that were read exports it.
    pub fn is_unexported(&self, history: &History, name: &str) -> bool {
        let epochs = history.functions.get(name).map_or(&[][..], Vec::as_slice);
        let mut declaring = epochs.iter().flat_map(|epoch| &epoch.releases);
        declaring.any(|release| {
            let exporters = self.get(name).iter();
            let read: Vec<_> = exporters
                .filter_map(|exporter| exporter.libraries(release))
                .collect();
            !read.is_empty() && read.iter().all(Vec::is_empty)
        })
    }

    /// Returns the exporters of a function, which is empty for a function that core does not export.
    pub fn get(&self, name: &str) -> &[Exporter] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

fn exporters(symbols: &Symbols, symbol: &str) -> Vec<Exporter> {
    let known = symbols.availability(symbol);
    let mut found: BTreeMap<(String, WheelPlatform), Exporter> = BTreeMap::new();
    for cell in symbols.wheels() {
        let key = (cell.package.clone(), cell.platform);
        let exporter = found.entry(key).or_insert_with(|| Exporter {
            package: cell.package.clone(),
            platform: cell.platform.triple(),
            releases: Vec::new(),
            libraries: BTreeMap::new(),
        });
        exporter.releases.push(cell.release.to_string());
        for library in known.exported.get(&cell).into_iter().flatten() {
            let releases = exporter.libraries.entry(library.clone()).or_default();
            releases.push(cell.release.to_string());
        }
    }
    let mut found: Vec<Exporter> = found.into_values().collect();
    // The exporter with the most releases first.
    found.sort_by_key(|exporter| std::cmp::Reverse(exporter.releases.len()));
    found
}
