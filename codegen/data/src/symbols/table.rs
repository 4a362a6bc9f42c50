//! The table of one package for one platform. Functions that the same libraries export in the same releases share an
//! entry, so that a new release changes few lines.

use super::{SymbolsError, WheelKey, runs};
use crate::json::to_line;
use crate::platform::WheelPlatform;
use crate::release::Release;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Version of the format, incremented if keys change their meaning.
pub const SCHEMA: u32 = 1;

/// The libraries that export a function, by release.
pub type Exported = BTreeMap<Release, BTreeSet<String>>;

/// The exports of the wheels of a package for a platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// `tensorflow-cpu`
    pub package: String,
    /// The platform.
    pub platform: WheelPlatform,
    wheels: BTreeMap<Release, String>,
    versions: BTreeMap<Release, BTreeMap<String, BTreeSet<String>>>,
    functions: BTreeMap<String, Exported>,
}

/// The exports of one wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WheelExports {
    /// The wheel's file name.
    pub wheel: String,
    /// The libraries that export each function.
    pub functions: BTreeMap<String, BTreeSet<String>>,
    /// The symbol versions that each library defines.
    pub versions: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SymbolsFile {
    schema: u32,
    package: String,
    platform: WheelPlatform,
    wheels: BTreeMap<Release, String>,
    versions: BTreeMap<String, BTreeMap<String, String>>,
    sets: Vec<Set>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    libraries: BTreeMap<String, String>,
    functions: Vec<String>,
}

const MALFORMED_SET: &str = "a set of releases is malformed or names an unread release";

fn malformed(name: &str, reason: impl ToString) -> SymbolsError {
    SymbolsError::Malformed {
        file: name.to_owned(),
        reason: reason.to_string(),
    }
}

/// Reads the exports of one release from the text of a table: the libraries that export each function. Returns `None`
/// if the table does not contain the release. `name` is for messages.
///
/// # Errors
/// Returns an error if the text is not a table.
pub fn exports_of_release(
    text: &str,
    name: &str,
    release: Release,
) -> Result<Option<BTreeMap<String, BTreeSet<String>>>, SymbolsError> {
    let (file, release) = (SymbolsFile::parse(text, name)?, release.key());
    let known: BTreeSet<Release> = file.wheels.keys().copied().collect();
    if !known.contains(&release) {
        return Ok(None);
    }
    let mut exports = BTreeMap::new();
    for set in file.sets {
        let mut libraries = BTreeSet::new();
        for (library, text) in set.libraries {
            let releases = runs::parse(&text, &known);
            let releases = releases.ok_or_else(|| malformed(name, MALFORMED_SET))?;
            if releases.contains(&release) {
                libraries.insert(library);
            }
        }
        let functions = set.functions.into_iter();
        exports.extend(functions.map(|function| (function, libraries.clone())));
    }
    Ok(Some(exports))
}

impl Table {
    /// Returns a table without releases.
    pub fn new(package: &str, platform: WheelPlatform) -> Self {
        Self {
            package: package.to_owned(),
            platform,
            wheels: BTreeMap::new(),
            versions: BTreeMap::new(),
            functions: BTreeMap::new(),
        }
    }

    /// Inserts the exports of a release, replacing its earlier ones.
    pub fn insert(&mut self, release: Release, exports: WheelExports) {
        let release = release.key();
        self.wheels.insert(release, exports.wheel);
        self.versions.insert(release, exports.versions);
        for exported in self.functions.values_mut() {
            exported.remove(&release);
        }
        for (function, libraries) in exports.functions {
            self.functions
                .entry(function)
                .or_default()
                .insert(release, libraries);
        }
        self.functions.retain(|_, exported| !exported.is_empty());
    }

    /// Adds the releases of `other` that are absent from this table.
    pub fn add_absent(&mut self, other: &Self) {
        for (release, wheel) in &other.wheels {
            if self.wheels.contains_key(release) {
                continue;
            }
            let functions = other.functions.iter();
            let functions = functions
                .filter_map(|(name, by)| Some((name.clone(), by.get(release)?.clone())))
                .collect();
            let exports = WheelExports {
                wheel: wheel.clone(),
                versions: other.versions.get(release).cloned().unwrap_or_default(),
                functions,
            };
            self.insert(*release, exports);
        }
    }

    /// Returns the table restricted to the releases up to `release`, or `None` if it has none of these.
    pub fn up_to(&self, release: Release) -> Option<Self> {
        let mut table = self.clone();
        let is_included = |known: &Release| *known <= release.key();
        table.wheels.retain(|known, _| is_included(known));
        table.versions.retain(|known, _| is_included(known));
        for exported in table.functions.values_mut() {
            exported.retain(|known, _| is_included(known));
        }
        table.functions.retain(|_, exported| !exported.is_empty());
        (!table.wheels.is_empty()).then_some(table)
    }

    /// Returns the wheels that the table contains.
    pub fn wheels(&self) -> impl Iterator<Item = WheelKey> {
        self.wheels.keys().map(|release| WheelKey {
            release: *release,
            package: self.package.clone(),
            platform: self.platform,
        })
    }

    /// Returns the functions that some release exports.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// Returns the file name of the wheel that was read for each release.
    pub fn wheel_names(&self) -> &BTreeMap<Release, String> {
        &self.wheels
    }

    /// Returns the symbol versions that a library of a release defines, such as `tensorflow`.
    pub fn versions(&self, release: Release, library: &str) -> BTreeSet<String> {
        let known = self.versions.get(&release.key());
        let known = known.and_then(|known| known.get(library)).cloned();
        known.unwrap_or_default()
    }

    /// Returns the libraries that export a function, by release.
    pub fn libraries(&self, function: &str) -> Exported {
        self.functions.get(function).cloned().unwrap_or_default()
    }

    /// Parses the text of a table. `name` is for messages.
    ///
    /// # Errors
    /// Returns an error if the text is not a table.
    pub fn parse(text: &str, name: &str) -> Result<Self, SymbolsError> {
        let file = SymbolsFile::parse(text, name)?;
        file.into_table()
            .ok_or_else(|| malformed(name, MALFORMED_SET))
    }

    /// Returns the text of the file; equal tables have equal texts.
    pub fn to_json(&self) -> String {
        let file = self.to_file();
        let schema = file.schema;
        let (package, platform) = (to_line(&file.package), to_line(&file.platform));
        let wheels = entries(&file.wheels);
        let versions = entries(&file.versions);
        let sets = lines(file.sets.iter().map(Set::to_json));
        format!(
            "{{\"schema\": {schema}, \"package\": {package}, \"platform\": {platform},\n\
             \"wheels\": {{\n{wheels}}},\n\"versions\": {{\n{versions}}},\n\"sets\": [\n{sets}]}}\n"
        )
    }

    fn to_file(&self) -> SymbolsFile {
        let known: BTreeSet<Release> = self.wheels.keys().copied().collect();
        let mut sets: BTreeMap<&Exported, Vec<String>> = BTreeMap::new();
        for (function, exported) in &self.functions {
            sets.entry(exported).or_default().push(function.clone());
        }
        let mut sets: Vec<Set> = sets
            .into_iter()
            .map(|(exported, functions)| Set {
                libraries: releases_by_name(exported)
                    .into_iter()
                    .map(|(library, releases)| (library, runs::format(&releases, &known)))
                    .collect(),
                functions,
            })
            .collect();
        sets.sort_by(|left, right| left.functions.cmp(&right.functions));
        SymbolsFile {
            schema: SCHEMA,
            package: self.package.clone(),
            platform: self.platform,
            wheels: self.wheels.clone(),
            versions: self.version_runs(&known),
            sets,
        }
    }

    fn version_runs(
        &self,
        known: &BTreeSet<Release>,
    ) -> BTreeMap<String, BTreeMap<String, String>> {
        let mut by_library: BTreeMap<&String, Exported> = BTreeMap::new();
        for (release, libraries) in &self.versions {
            for (library, versions) in libraries {
                let by_release = by_library.entry(library).or_default();
                by_release.insert(*release, versions.clone());
            }
        }
        let format_runs = |versions: &Exported| {
            let versions = releases_by_name(versions).into_iter();
            versions
                .map(|(version, releases)| (version, runs::format(&releases, known)))
                .collect()
        };
        by_library
            .into_iter()
            .map(|(library, versions)| (library.clone(), format_runs(&versions)))
            .collect()
    }
}

impl Set {
    fn to_json(&self) -> String {
        let functions = lines(self.functions.iter().map(to_line));
        let libraries = to_line(&self.libraries);
        format!("{{\"libraries\": {libraries}, \"functions\": [\n{functions}]}}")
    }
}

/// Maps each name, of a library or a version, to its releases.
fn releases_by_name(exported: &Exported) -> BTreeMap<String, BTreeSet<Release>> {
    let mut releases: BTreeMap<String, BTreeSet<Release>> = BTreeMap::new();
    for (release, libraries) in exported {
        for library in libraries {
            releases
                .entry(library.clone())
                .or_default()
                .insert(*release);
        }
    }
    releases
}

#[derive(Deserialize)]
struct Schema {
    schema: u32,
}

impl SymbolsFile {
    fn parse(text: &str, name: &str) -> Result<Self, SymbolsError> {
        let file: Result<Self, _> = serde_json::from_str(text);
        // A newer schema may have other keys. Its number is read alone, for the message.
        let schema = match &file {
            Ok(file) => Some(file.schema),
            Err(_) => serde_json::from_str(text)
                .ok()
                .map(|Schema { schema }| schema),
        };
        match schema {
            Some(found) if found > SCHEMA => {
                let reason = format!(
                    "schema {found} is newer than {SCHEMA}, which this sp-gen reads: use a newer sp-gen"
                );
                Err(malformed(name, reason))
            }
            _ => file.map_err(|error| malformed(name, error)),
        }
    }

    fn into_table(self) -> Option<Table> {
        let known: BTreeSet<Release> = self.wheels.keys().copied().collect();
        let mut table = Table::new(&self.package, self.platform);
        table.wheels = self.wheels;
        for set in &self.sets {
            let mut exported = Exported::new();
            for (library, text) in &set.libraries {
                for release in runs::parse(text, &known)? {
                    exported.entry(release).or_default().insert(library.clone());
                }
            }
            let functions = set.functions.iter();
            let functions = functions.map(|function| (function.clone(), exported.clone()));
            table.functions.extend(functions);
        }
        table.versions = known
            .iter()
            .map(|release| (*release, BTreeMap::new()))
            .collect();
        for (library, versions) in &self.versions {
            for (version, text) in versions {
                for release in runs::parse(text, &known)? {
                    let libraries = table.versions.entry(release).or_default();
                    libraries
                        .entry(library.clone())
                        .or_default()
                        .insert(version.clone());
                }
            }
        }
        Some(table)
    }
}

/// Returns the entries of a map, one on each line.
fn entries<K: Serialize, V: Serialize>(map: &BTreeMap<K, V>) -> String {
    lines(
        map.iter()
            .map(|(key, value)| format!("{}: {}", to_line(key), to_line(value))),
    )
}

/// Returns the entries on one line each, separated by commas.
fn lines(entries: impl Iterator<Item = String>) -> String {
    let entries: Vec<String> = entries.collect();
    match entries.is_empty() {
        true => String::new(),
        false => entries.join(",\n") + "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exports(wheel: &str, functions: &[(&str, &str)]) -> WheelExports {
        let functions = functions.iter().map(|(function, library)| {
            (
                (*function).to_owned(),
                BTreeSet::from([(*library).to_owned()]),
            )
        });
        let tensorflow = BTreeSet::from(["tensorflow".to_owned()]);
        WheelExports {
            wheel: wheel.into(),
            functions: functions.collect(),
            versions: BTreeMap::from([("cc".to_owned(), tensorflow)]),
        }
    }

    fn table() -> Table {
        let mut table = Table::new("tensorflow-cpu", WheelPlatform::LinuxX86_64);
        for (release, functions) in [
            ("2.4.4", &[("TF_A", "pywrap"), ("TF_B", "pywrap")][..]),
            ("2.5.3", &[("TF_A", "cc"), ("TF_B", "cc"), ("TF_C", "cc")]),
        ] {
            table.insert(release.parse().unwrap(), exports(release, functions));
        }
        table
    }

    #[test]
    fn parses_its_own_json() {
        let text = table().to_json();
        assert_eq!(Table::parse(&text, "x").unwrap(), table());
        assert!(text.contains("{\"libraries\": {\"cc\":\"2.5\",\"pywrap\":\"2.4\"}, \"functions\": [\n\"TF_A\",\n\"TF_B\"\n]}"), "{text}");
        let part = "\"cc\": {\"tensorflow\":\"2.4-2.5\"}";
        assert!(text.contains(part), "{text}");
    }

    #[test]
    fn insert_replaces_release() {
        let mut table = table();
        table.insert(
            "2.5.3".parse().unwrap(),
            exports("2.5.3", &[("TF_A", "cc")]),
        );
        assert_eq!(table.functions().collect::<Vec<_>>(), ["TF_A", "TF_B"]);
        assert_eq!(table.libraries("TF_B").len(), 1);
    }

    #[test]
    fn rejects_newer_schema_and_malformed_table() {
        let text = table().to_json();
        for (from, to, message) in [
            ("\"schema\": 1", "\"schema\": 9", "use a newer sp-gen"),
            ("2.4-2.5", "2.4-2.7", "set of releases"),
            ("\"sets\"", "\"sots\"", "sots"),
        ] {
            let error = Table::parse(&text.replace(from, to), "x.json").unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
        assert!(Table::parse("", "x.json").is_err());
    }
}
