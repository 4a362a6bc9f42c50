//! One table: a package for a platform. Functions that the same libraries export in the same releases
//! stand together, so that a new release changes few lines.

use super::{Cell, SymbolsError, runs};
use crate::platform::Platform;
use crate::release::Release;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Counts up when keys change their meaning.
pub const SCHEMA: u32 = 1;

/// The libraries that export a function, by release.
pub type Exported = BTreeMap<Release, BTreeSet<String>>;

/// What the wheels of a package for a platform export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// `tensorflow-cpu`
    pub package: String,
    /// The platform.
    pub platform: Platform,
    wheels: BTreeMap<Release, String>,
    versions: BTreeMap<Release, BTreeMap<String, BTreeSet<String>>>,
    functions: BTreeMap<String, Exported>,
}

/// What one wheel exports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Column {
    /// The wheel's file name.
    pub wheel: String,
    /// Function to libraries.
    pub functions: BTreeMap<String, BTreeSet<String>>,
    /// Library to the versions that it gives its symbols.
    pub versions: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    package: String,
    platform: Platform,
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

const UNREADABLE_SET: &str = "a set of releases cannot be read";

fn malformed(name: &str, reason: impl ToString) -> SymbolsError {
    SymbolsError::Malformed {
        file: name.to_owned(),
        reason: reason.to_string(),
    }
}

/// What the wheel of one release exports, of a table's text: function to libraries, none for those
/// that other releases export. Nothing where the table does not know the release.
pub fn exported(
    text: &str,
    name: &str,
    release: Release,
) -> Result<Option<BTreeMap<String, BTreeSet<String>>>, SymbolsError> {
    let (file, release) = (File::parse(text, name)?, release.key());
    let known: BTreeSet<Release> = file.wheels.keys().copied().collect();
    if !known.contains(&release) {
        return Ok(None);
    }
    let mut found = BTreeMap::new();
    for set in file.sets {
        let mut libraries = BTreeSet::new();
        for (library, text) in set.libraries {
            let releases = runs::read(&text, &known);
            let releases = releases.ok_or_else(|| malformed(name, UNREADABLE_SET))?;
            if releases.contains(&release) {
                libraries.insert(library);
            }
        }
        let functions = set.functions.into_iter();
        found.extend(functions.map(|function| (function, libraries.clone())));
    }
    Ok(Some(found))
}

impl Table {
    /// A table of no release.
    pub fn new(package: &str, platform: Platform) -> Self {
        Self {
            package: package.to_owned(),
            platform,
            wheels: BTreeMap::new(),
            versions: BTreeMap::new(),
            functions: BTreeMap::new(),
        }
    }

    /// Puts a release in, over what was there of it.
    pub fn put(&mut self, release: Release, column: Column) {
        let release = release.key();
        self.wheels.insert(release, column.wheel);
        self.versions.insert(release, column.versions);
        for exported in self.functions.values_mut() {
            exported.remove(&release);
        }
        for (function, libraries) in column.functions {
            self.functions
                .entry(function)
                .or_default()
                .insert(release, libraries);
        }
        self.functions.retain(|_, exported| !exported.is_empty());
    }

    /// Takes in the releases that it lacks and `other` has.
    pub fn complete(&mut self, other: &Self) {
        let known: BTreeSet<Release> = self.wheels.keys().copied().collect();
        for release in other
            .wheels
            .keys()
            .copied()
            .filter(|it| !known.contains(it))
        {
            let exported = other.functions.iter();
            let exported =
                exported.filter_map(|(name, by)| Some((name.clone(), by.get(&release)?.clone())));
            let column = Column {
                wheel: other.wheels[&release].clone(),
                versions: other.versions.get(&release).cloned().unwrap_or_default(),
                functions: exported.collect(),
            };
            self.put(release, column);
        }
    }

    /// The table as it was when `release` was the newest; nothing where no wheel had been read.
    pub fn until(&self, release: Release) -> Option<Self> {
        let mut known = self.clone();
        let later = |it: &Release| *it > release.key();
        known.wheels.retain(|it, _| !later(it));
        known.versions.retain(|it, _| !later(it));
        for exported in known.functions.values_mut() {
            exported.retain(|it, _| !later(it));
        }
        known.functions.retain(|_, exported| !exported.is_empty());
        (!known.wheels.is_empty()).then_some(known)
    }

    /// The releases it knows, as cells.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        self.wheels.keys().map(|release| Cell {
            release: *release,
            package: self.package.clone(),
            platform: self.platform,
        })
    }

    /// The functions that some release exports.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// The wheel that was read for each release.
    pub fn wheels(&self) -> &BTreeMap<Release, String> {
        &self.wheels
    }

    /// The versions that a library of a release gives its symbols, such as `tensorflow`.
    pub fn versions(&self, release: Release, library: &str) -> BTreeSet<String> {
        let known = self.versions.get(&release.key());
        known
            .and_then(|known| known.get(library))
            .cloned()
            .unwrap_or_default()
    }

    /// The libraries that export a function, by release.
    pub fn libraries(&self, function: &str) -> Exported {
        self.functions.get(function).cloned().unwrap_or_default()
    }

    /// Reads a table's text; `name` is for messages.
    pub fn parse(text: &str, name: &str) -> Result<Self, SymbolsError> {
        let file = File::parse(text, name)?;
        file.into_table()
            .ok_or_else(|| malformed(name, UNREADABLE_SET))
    }

    /// The file's text, equal for equal tables.
    pub fn text(&self) -> String {
        let file = self.file();
        let json = |value: &dyn erased::Json| value.json();
        let mut text = format!(
            "{{\"schema\": {}, \"package\": {}, \"platform\": {},\n\"wheels\": {{\n",
            file.schema,
            json(&file.package),
            json(&file.platform)
        );
        text += &lines(
            file.wheels
                .iter()
                .map(|(release, wheel)| format!("{}: {}", json(release), json(wheel))),
        );
        text += "},\n\"versions\": {\n";
        text += &lines(
            file.versions
                .iter()
                .map(|(library, known)| format!("{}: {}", json(library), json(known))),
        );
        text += "},\n\"sets\": [\n";
        text += &lines(file.sets.iter().map(|set| {
            let functions = lines(set.functions.iter().map(|name| json(name)));
            format!(
                "{{\"libraries\": {}, \"functions\": [\n{functions}]}}",
                json(&set.libraries)
            )
        }));
        text + "]}\n"
    }

    fn file(&self) -> File {
        let known: BTreeSet<Release> = self.wheels.keys().copied().collect();
        let mut sets: BTreeMap<&Exported, Vec<String>> = BTreeMap::new();
        for (function, exported) in &self.functions {
            sets.entry(exported).or_default().push(function.clone());
        }
        let mut sets: Vec<Set> = sets
            .into_iter()
            .map(|(exported, functions)| Set {
                libraries: turned(exported)
                    .into_iter()
                    .map(|(library, releases)| (library, runs::write(&releases, &known)))
                    .collect(),
                functions,
            })
            .collect();
        sets.sort_by(|left, right| left.functions.cmp(&right.functions));
        File {
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
        let mut turned: BTreeMap<&String, BTreeMap<&String, BTreeSet<Release>>> = BTreeMap::new();
        for (release, libraries) in &self.versions {
            for (library, versions) in libraries {
                for version in versions {
                    let of = turned
                        .entry(library)
                        .or_default()
                        .entry(version)
                        .or_default();
                    of.insert(*release);
                }
            }
        }
        let texts = |versions: BTreeMap<&String, BTreeSet<Release>>| {
            let text = |(version, releases): (&String, BTreeSet<Release>)| {
                (version.clone(), runs::write(&releases, known))
            };
            versions.into_iter().map(text).collect()
        };
        turned
            .into_iter()
            .map(|(library, versions)| (library.clone(), texts(versions)))
            .collect()
    }
}

/// Library to releases.
fn turned(exported: &Exported) -> BTreeMap<String, BTreeSet<Release>> {
    let mut turned: BTreeMap<String, BTreeSet<Release>> = BTreeMap::new();
    for (release, libraries) in exported {
        for library in libraries {
            turned.entry(library.clone()).or_default().insert(*release);
        }
    }
    turned
}

#[derive(Deserialize)]
struct Schema {
    schema: u32,
}

impl File {
    fn parse(text: &str, name: &str) -> Result<Self, SymbolsError> {
        let file: Result<Self, _> = serde_json::from_str(text);
        // A newer schema may have another form, but it says that it is newer.
        let schema = match &file {
            Ok(file) => Some(file.schema),
            Err(_) => serde_json::from_str(text)
                .ok()
                .map(|Schema { schema }| schema),
        };
        match schema {
            Some(found) if found > SCHEMA => {
                let reads = format!("this sp-gen reads up to {SCHEMA}: use a newer sp-gen");
                Err(malformed(
                    name,
                    format!("its schema is {found}, and {reads}"),
                ))
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
                for release in runs::read(text, &known)? {
                    exported.entry(release).or_default().insert(library.clone());
                }
            }
            let each = set
                .functions
                .iter()
                .map(|function| (function.clone(), exported.clone()));
            table.functions.extend(each);
        }
        table.versions = known
            .iter()
            .map(|release| (*release, BTreeMap::new()))
            .collect();
        for (library, versions) in &self.versions {
            for (version, text) in versions {
                for release in runs::read(text, &known)? {
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

/// One entry a line, commas between.
fn lines(entries: impl Iterator<Item = String>) -> String {
    let entries: Vec<String> = entries.collect();
    match entries.is_empty() {
        true => String::new(),
        false => entries.join(",\n") + "\n",
    }
}

mod erased {
    /// What is written as JSON on one line.
    pub trait Json {
        fn json(&self) -> String;
    }

    impl<T: serde::Serialize> Json for T {
        fn json(&self) -> String {
            serde_json::to_string(self).expect("strings and maps of strings always serialize")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(wheel: &str, functions: &[(&str, &str)]) -> Column {
        let functions = functions.iter().map(|(function, library)| {
            (
                (*function).to_owned(),
                BTreeSet::from([(*library).to_owned()]),
            )
        });
        let tensorflow = BTreeSet::from(["tensorflow".to_owned()]);
        Column {
            wheel: wheel.into(),
            functions: functions.collect(),
            versions: BTreeMap::from([("cc".to_owned(), tensorflow)]),
        }
    }

    fn table() -> Table {
        let mut table = Table::new("tensorflow-cpu", Platform::LinuxX86_64);
        for (release, functions) in [
            ("2.4.4", &[("TF_A", "pywrap"), ("TF_B", "pywrap")][..]),
            ("2.5.3", &[("TF_A", "cc"), ("TF_B", "cc"), ("TF_C", "cc")]),
        ] {
            table.put(release.parse().unwrap(), column(release, functions));
        }
        table
    }

    #[test]
    fn reads_what_it_writes() {
        let text = table().text();
        assert_eq!(Table::parse(&text, "x").unwrap(), table());
        assert!(text.contains("{\"libraries\": {\"cc\":\"2.5\",\"pywrap\":\"2.4\"}, \"functions\": [\n\"TF_A\",\n\"TF_B\"\n]}"), "{text}");
        assert!(
            text.contains("\"cc\": {\"tensorflow\":\"2.4-2.5\"}"),
            "{text}"
        );
    }

    #[test]
    fn a_release_read_again_replaces_itself() {
        let mut table = table();
        table.put("2.5.3".parse().unwrap(), column("2.5.3", &[("TF_A", "cc")]));
        assert_eq!(table.functions().collect::<Vec<_>>(), ["TF_A", "TF_B"]);
        assert_eq!(table.libraries("TF_B").len(), 1);
    }

    #[test]
    fn a_newer_schema_and_a_damaged_table_are_refused() {
        let text = table().text();
        for (from, to, says) in [
            ("\"schema\": 1", "\"schema\": 9", "use a newer sp-gen"),
            ("2.4-2.5", "2.4-2.7", "set of releases"),
            ("\"sets\"", "\"sots\"", "sots"),
        ] {
            let error = Table::parse(&text.replace(from, to), "x.json").unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
        assert!(Table::parse("", "x.json").is_err());
    }
}
