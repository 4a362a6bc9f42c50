//! The wheels that export each function. Functions that the same wheels export form a set, which is identified
//! by its first function.

use std::collections::{BTreeMap, BTreeSet};

use sp_data::symbols::table::Table;
use sp_data::symbols::{Symbols, runs};
use sp_ir::{Api, Item, Release, Side};

/// For each table, the releases that export a function.
pub type ExportingReleases = Vec<BTreeSet<Release>>;

/// The wheels that export the functions of all APIs.
pub struct Exports<'a> {
    /// The tables, that with the oldest release first.
    tables: Vec<&'a Table>,
    by_function: BTreeMap<&'a str, ExportingReleases>,
    /// The first function of each set of exporting releases.
    first_functions: BTreeMap<ExportingReleases, &'a str>,
}

impl<'a> Exports<'a> {
    /// Collects the exports of TensorFlow's functions from `symbols`.
    pub fn collect(apis: &'a [Api], symbols: &'a Symbols) -> Self {
        let mut tables: Vec<&Table> = symbols.tables().iter().collect();
        tables.sort_by_key(|table| (releases_of(table).first().copied(), &table.package));
        let functions = apis.iter().flat_map(|api| api.items.values());
        let names = functions.filter_map(|item| match item {
            Item::Function(item) if !item.inline => {
                let by = item.exported_by.as_ref().map(|by| by.value);
                (by != Some(Side::Plugin)).then_some(item.symbol.as_str())
            }
            _ => None,
        });
        let exporting = |name: &str| -> ExportingReleases {
            let libraries = tables.iter().map(|table| table.libraries(name));
            libraries.map(|it| it.into_keys().collect()).collect()
        };
        let by_function: BTreeMap<&str, ExportingReleases> = match tables.is_empty() {
            true => BTreeMap::new(),
            false => names.map(|name| (name, exporting(name))).collect(),
        };
        let mut first_functions = BTreeMap::new();
        for (name, exporting) in &by_function {
            first_functions.entry(exporting.clone()).or_insert(*name);
        }
        Self {
            tables,
            by_function,
            first_functions,
        }
    }

    /// Returns a sentence such as `Exported by tensorflow-cpu from 2.6 to 2.18, tensorflow in 2.19.`
    pub fn describe(&self, symbol: &str) -> Option<String> {
        let exporting = self.by_function.get(symbol)?;
        let mut groups: Vec<(String, Vec<&Table>)> = Vec::new();
        for (table, exporting) in self.tables.iter().zip(exporting) {
            let text = format!("{} {}", table.package, self.releases_text(table, exporting));
            match groups.iter_mut().find(|(other, _)| *other == text) {
                _ if exporting.is_empty() => {}
                Some((_, tables)) => tables.push(table),
                None => groups.push((text, vec![table])),
            }
        }
        let groups: Vec<String> = groups
            .into_iter()
            .map(|(text, tables)| text + &self.platforms_text(&tables))
            .collect();
        Some(match groups.is_empty() {
            true => "No known wheel exports it.".to_owned(),
            false => format!("Exported by {}.", groups.join(", ")),
        })
    }

    /// Returns `from 2.6 to 2.18` or `from 2.5 on`. If only newer releases of a package are known and all of them
    /// export the function, returns `in all known releases (2.19-2.22)`.
    fn releases_text(&self, table: &Table, exporting: &BTreeSet<Release>) -> String {
        let known = releases_of(table);
        let oldest_table = self.tables.first().map(|it| releases_of(it));
        let first_of = |known: &BTreeSet<Release>| known.first().copied();
        let starts_later = oldest_table.as_ref().and_then(first_of) < first_of(&known);
        if *exporting == known && starts_later {
            return format!("in all known releases ({})", runs::format(&known, &known));
        }
        let text = |(first, last): (Release, Release)| match () {
            () if first == last => format!("in {first}"),
            () if Some(&last) == known.last() => format!("from {first} on"),
            () => format!("from {first} to {last}"),
        };
        let runs = runs::from_set(exporting, &known).into_iter();
        runs.map(text).collect::<Vec<_>>().join(" and ")
    }

    /// Returns the platforms of the tables, or an empty text if they are all tables of the package.
    fn platforms_text(&self, tables: &[&Table]) -> String {
        let is_same_package = |table: &&&Table| table.package == tables[0].package;
        if self.tables.iter().filter(is_same_package).count() == tables.len() {
            return String::new();
        }
        let platforms: Vec<&str> = tables.iter().map(|it| it.platform.triple()).collect();
        format!(" on {}", platforms.join(" and "))
    }

    /// Returns the release from which on every known wheel exports the function, or `None` if the newest
    /// release of some package does not.
    pub fn always_since(&self, symbol: &str) -> Option<Release> {
        let Some(exporting) = self.by_function.get(symbol) else {
            return self.supported_releases().next();
        };
        let tables = self.tables.iter().zip(exporting);
        let lacking: BTreeSet<Release> = tables
            .flat_map(|(table, exporting)| {
                releases_of(table)
                    .into_iter()
                    .filter(|it| !exporting.contains(it))
            })
            .collect();
        match lacking.last() {
            Some(last) => self.supported_releases().find(|release| release > last),
            None => self.supported_releases().next(),
        }
    }

    /// Returns the releases that load plugins and of which a wheel is known.
    fn supported_releases(&self) -> impl Iterator<Item = Release> {
        let known: BTreeSet<Release> = self.tables.iter().flat_map(|it| releases_of(it)).collect();
        let is_supported = |release: &Release| *release >= Release::FIRST_SUPPORTED;
        known.into_iter().filter(is_supported)
    }

    /// Returns one function of each set, with the first and last release of any package that exports it. The
    /// last release is `None` if the newest release of some package exports the function.
    pub fn release_symbols(&self) -> Vec<(&'a str, Release, Option<Release>)> {
        let release_symbol = |(exporting, name): (&ExportingReleases, &&'a str)| {
            let first = exporting.iter().filter_map(BTreeSet::first).min()?;
            let last = exporting.iter().filter_map(BTreeSet::last).max()?;
            let tables = self.tables.iter().zip(exporting);
            let mut tables = tables.filter(|(_, exporting)| !exporting.is_empty());
            let is_open =
                tables.any(|(table, exporting)| releases_of(table).last() == exporting.last());
            Some((*name, *first, (!is_open).then_some(*last)))
        };
        let first_functions = self.first_functions.iter().filter_map(release_symbol);
        first_functions.collect()
    }

    /// Returns the tables of wheels, that with the oldest release first.
    pub fn tables(&self) -> &[&'a Table] {
        &self.tables
    }

    /// Returns each function with the first function that the same wheels export.
    pub fn functions(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let functions = self.by_function.iter();
        functions.map(|(name, exporting)| (*name, self.first_functions[exporting]))
    }

    /// Returns the first function that the same wheels export as `symbol`, or `None` if no export of it is known.
    pub fn first_function(&self, symbol: &str) -> Option<&'a str> {
        let exporting = self.by_function.get(symbol)?;
        self.first_functions.get(exporting).copied()
    }

    /// Returns the sets of exporting releases, each with its first function.
    pub fn sets(&self) -> impl Iterator<Item = (&ExportingReleases, &'a str)> {
        let sets = self.first_functions.iter();
        sets.map(|(exporting, first)| (exporting, *first))
    }
}

/// Returns the releases of a table's wheels.
pub fn releases_of(table: &Table) -> BTreeSet<Release> {
    table.wheel_names().keys().copied().collect()
}
