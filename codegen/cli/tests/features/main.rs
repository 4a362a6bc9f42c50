//! `generated/docs/features.md`: what an author of kernels can use, by release. `SP_BLESS=1` writes the page.

mod page;

use std::collections::BTreeSet;
use std::fs;

use sp_data::features::{FEATURES, Feature};
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_data::snapshots;
use sp_data::symbols::Symbols;
use sp_tests::{assert_golden, root};

/// The committed facts.
struct Facts {
    symbols: Symbols,
    folders: DataFolders,
    releases: Vec<Release>,
}

impl Facts {
    fn read() -> Self {
        let folders = DataFolders::find(root()).unwrap();
        let releases = snapshots::releases(&folders).unwrap();
        let releases = releases.into_iter();
        Self {
            symbols: Symbols::load(&folders).unwrap(),
            releases: releases
                .filter(|it| *it >= Release::FIRST_SUPPORTED)
                .collect(),
            folders,
        }
    }

    /// Returns the releases that have the feature.
    fn releases_with(&self, feature: &Feature) -> BTreeSet<Release> {
        let is_in = |release: &&Release| {
            let apis = ["stream_executor"];
            let apis = snapshots::read_apis(&self.folders, **release, &apis).unwrap();
            feature.is_in(**release, &self.symbols, &apis)
        };
        self.releases.iter().filter(is_in).copied().collect()
    }
}

#[test]
fn page_has_the_committed_facts() {
    assert_golden("generated/docs/features.md", &page::page(&Facts::read()));
}

#[test]
fn known_gaps_are_in_the_table() {
    let facts = Facts::read();
    let releases = |title: &str| {
        let feature = FEATURES
            .iter()
            .find(|it| it.title.starts_with(title))
            .unwrap();
        page::runs(&facts.releases_with(feature), &facts.releases)
    };
    for (title, expected) in [
        ("kernels", "2.5 on"),
        ("resource variables: assign", "2.6 to 2.18, 2.22 on"),
        ("variants", "2.10 to 2.18, 2.22 on"),
        ("custom ops", "2.6 on"),
        ("shape functions", "2.10 on"),
        ("tensor attributes", "2.8 on"),
        ("function attributes", "2.11 on"),
        ("labels", "2.11 on"),
        ("asynchronous kernels that", "2.22 on"),
    ] {
        assert_eq!(releases(title), expected, "{title}");
    }
}

/// Functions that the SDK's parameters need: without one of them an op is left to TensorFlow.
#[test]
fn needs_of_kernel_parameters_are_in_the_table() {
    let known: BTreeSet<&str> = FEATURES.iter().flat_map(Feature::functions).collect();
    let folder = root().join("templates/sdk/src/kernel/variable");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for needs in text.split("needs!(").skip(1) {
            let list = needs.split(')').next().unwrap();
            let names = list.split([',', ';']).map(str::trim);
            for name in names.filter(|it| !it.is_empty()) {
                assert!(known.contains(name), "{name} is on no row of the page");
                count += 1;
            }
        }
    }
    assert!(count > 2, "{count} functions");
}

/// The test host exports what the page states, so a kernel runs there wherever it runs in TensorFlow.
#[test]
fn test_host_exports_what_the_page_states() {
    let facts = Facts::read();
    for release in &facts.releases {
        let exports = sp_gen::verify::exports(&facts.folders, *release);
        let exports = exports.unwrap().unwrap();
        for feature in FEATURES.iter().filter(|it| it.observed.is_none()) {
            let is_exported = |name: &str| exports.contains_key(name);
            let has_all = feature.functions().all(is_exported);
            let is_stated = facts.releases_with(feature).contains(release);
            if feature.functions().next().is_some() {
                assert_eq!(has_all, is_stated, "{} in {release}", feature.title);
            }
        }
    }
}
