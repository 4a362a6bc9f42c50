//! The libraries that export each function, by release, package and platform.
//!
//! Availability is a set of wheels, with gaps. For a wheel that was not read the availability is unknown, which is not
//! the same as "not exported".

pub mod runs;
pub mod table;

use crate::embedded::SYMBOLS;
use crate::folders::DataFolders;
use crate::platform::WheelPlatform;
use crate::release::Release;
use miette::Diagnostic;
use sp_system::errors;
use sp_system::input;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};
use table::Table;
use thiserror::Error;

/// Identifies a wheel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WheelKey {
    /// The minor release.
    pub release: Release,
    /// `tensorflow-cpu`
    pub package: String,
    /// The platform of the wheel.
    pub platform: WheelPlatform,
}

/// All tables of symbols.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbols {
    tables: Vec<Table>,
}

/// The wheels that export a function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionAvailability {
    /// The libraries that export the function, by wheel; without the wheels where none does.
    pub exported: BTreeMap<WheelKey, BTreeSet<String>>,
    /// Wheels that were read and do not export the function.
    pub absent: BTreeSet<WheelKey>,
}

errors! {
    /// A table of symbols cannot be read, written or parsed.
    #[derive(Debug, Error, Diagnostic)]
    pub enum SymbolsError in symbols {
        /// The file cannot be read or written.
        Unreadable { path: PathBuf, source: io::Error } = unreadable: ("{}: {source}", path.display());

        /// The file is not a table of symbols.
        Malformed { file: String, reason: String } = malformed: ("{file}: {reason}"),
            help("remove the file, and import its releases again with `--symbols`");
    }
}

impl Symbols {
    /// Returns the tables that are embedded in the binary.
    ///
    /// # Errors
    /// Returns an error if a table is malformed.
    pub fn embedded() -> Result<Self, SymbolsError> {
        let tables = SYMBOLS.iter().map(|(file, text)| Table::parse(text, file));
        Ok(Self {
            tables: tables.collect::<Result<_, _>>()?,
        })
    }

    /// Reads the tables in `folders`. If these extend the embedded tables, the user's tables take precedence.
    ///
    /// # Errors
    /// Returns an error if a table cannot be read.
    pub fn load(folders: &DataFolders) -> Result<Self, SymbolsError> {
        let mut symbols = Self::read_folder(&folders.symbols)?;
        if folders.extends_embedded {
            symbols.add_absent(Self::embedded()?);
        }
        Ok(symbols)
    }

    /// Adds the wheels of `others` that are absent from these tables.
    fn add_absent(&mut self, others: Self) {
        for other in others.tables {
            let is_same = |table: &&mut Table| {
                (&table.package, table.platform) == (&other.package, other.platform)
            };
            match self.tables.iter_mut().find(is_same) {
                Some(table) => table.add_absent(&other),
                None => self.tables.push(other),
            }
        }
    }

    /// Reads the tables in a folder, which need not exist.
    ///
    /// # Errors
    /// Returns an error if a table cannot be read.
    pub fn read_folder(folder: &Path) -> Result<Self, SymbolsError> {
        let mut tables = Vec::new();
        for package in entries(folder)? {
            for file in entries(&package)? {
                let read = input::read_text(&file);
                let text = read.map_err(|source| SymbolsError::Unreadable {
                    path: file.clone(),
                    source,
                })?;
                tables.push(Table::parse(&text, &file.display().to_string())?);
            }
        }
        Ok(Self { tables })
    }

    /// Returns symbols with these tables.
    pub fn from_tables(tables: Vec<Table>) -> Self {
        Self { tables }
    }

    /// Returns the tables restricted to the releases up to `release`.
    pub fn up_to(&self, release: Release) -> Self {
        let tables = self.tables.iter();
        Self::from_tables(tables.filter_map(|table| table.up_to(release)).collect())
    }

    /// Returns the tables: one per package and platform.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Returns every wheel that was read.
    pub fn wheels(&self) -> BTreeSet<WheelKey> {
        self.tables.iter().flat_map(Table::wheels).collect()
    }

    /// Returns every function that some wheel exports.
    pub fn functions(&self) -> BTreeSet<&str> {
        self.tables.iter().flat_map(Table::functions).collect()
    }

    /// Returns the wheels that export a function.
    pub fn availability(&self, function: &str) -> FunctionAvailability {
        let mut availability = FunctionAvailability::default();
        for table in &self.tables {
            let libraries = table.libraries(function);
            for wheel in table.wheels() {
                match libraries.get(&wheel.release) {
                    Some(libraries) => drop(availability.exported.insert(wheel, libraries.clone())),
                    None => drop(availability.absent.insert(wheel)),
                }
            }
        }
        availability
    }
}

impl FunctionAvailability {
    /// Returns true if at least one wheel exports the function.
    pub fn is_exported(&self) -> bool {
        !self.exported.is_empty()
    }

    /// Returns the libraries of a wheel that export the function, or `None` if the wheel was not read.
    pub fn libraries(&self, wheel: &WheelKey) -> Option<BTreeSet<String>> {
        let known = self.exported.get(wheel).cloned();
        known.or_else(|| self.absent.contains(wheel).then(BTreeSet::new))
    }

    /// Returns the releases whose wheel of `package` for `platform` exports the function.
    pub fn releases(&self, package: &str, platform: WheelPlatform) -> BTreeSet<Release> {
        let wheels = self.exported.keys();
        let wheels = wheels.filter(|key| key.package == package && key.platform == platform);
        wheels.map(|key| key.release).collect()
    }
}

/// Returns the libraries that export each function in one wheel, or `None` if that wheel was not read. A function that
/// only other releases export has no libraries.
///
/// # Errors
/// Returns an error if the table cannot be read.
pub fn exports_of_wheel(
    folders: &DataFolders,
    package: &str,
    platform: WheelPlatform,
    release: Release,
) -> Result<Option<BTreeMap<String, BTreeSet<String>>>, SymbolsError> {
    let name = format!("{package}/{platform}.json");
    let path = folders.symbols.join(&name);
    let read = match input::read_text(&path) {
        Ok(text) => table::exports_of_release(&text, &path.display().to_string(), release)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(source) => return Err(SymbolsError::Unreadable { path, source }),
    };
    let embedded = SYMBOLS.iter().find(|(file, _)| *file == name);
    match embedded.filter(|_| read.is_none() && folders.extends_embedded) {
        Some((file, text)) => table::exports_of_release(text, file, release),
        None => Ok(read),
    }
}

/// Returns the entries of a folder, sorted and without hidden ones; an empty list if the folder does not exist.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, SymbolsError> {
    let unreadable = |source| SymbolsError::Unreadable {
        path: folder.to_owned(),
        source,
    };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(unreadable)?.path());
    }
    let is_hidden = |path: &PathBuf| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        name.is_none_or(|name| name.starts_with('.'))
    };
    paths.retain(|path| !is_hidden(path));
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: &str = "tensorflow-cpu";
    const LINUX: WheelPlatform = WheelPlatform::LinuxX86_64;

    fn wheel(release: &str) -> WheelKey {
        WheelKey {
            release: release.parse().unwrap(),
            package: CPU.into(),
            platform: LINUX,
        }
    }

    fn libraries(name: &str, release: &str) -> Option<BTreeSet<String>> {
        Symbols::embedded()
            .unwrap()
            .availability(name)
            .libraries(&wheel(release))
    }

    fn single(name: &str) -> Option<BTreeSet<String>> {
        Some(BTreeSet::from([name.to_owned()]))
    }

    #[test]
    fn finds_library_of_function_by_release() {
        let name = "TF_GetNodesToPreserveListSize";
        let expected = single("_pywrap_tensorflow_internal.so");
        assert_eq!(libraries(name, "2.11"), expected);
        assert_eq!(libraries(name, "2.12"), single("libtensorflow_cc.so.2"));
        assert_eq!(
            libraries("TF_NewStatus", "2.21"),
            single("libtensorflow_framework.so.2")
        );
    }

    #[test]
    fn function_is_absent_in_unexporting_releases() {
        let symbols = Symbols::embedded().unwrap();
        let found = symbols.availability("TF_AssignVariable");
        for release in ["2.19", "2.20", "2.21"] {
            assert!(found.absent.contains(&wheel(release)), "{release}");
        }
        assert!(found.is_exported());
    }

    #[test]
    fn release_exports_equal_table_column() {
        for (file, text) in SYMBOLS {
            let table = Table::parse(text, file).unwrap();
            for release in table.wheel_names().keys() {
                let found = table::exports_of_release(text, file, *release)
                    .unwrap()
                    .unwrap();
                assert_eq!(found.len(), table.functions().count());
                for (function, libraries) in found {
                    let known = table.libraries(&function).remove(release);
                    assert_eq!(known.unwrap_or_default(), libraries, "{function} {release}");
                }
            }
            let unread = "2.3".parse().unwrap();
            assert_eq!(table::exports_of_release(text, file, unread).unwrap(), None);
        }
    }

    #[test]
    fn distinguishes_unread_wheel_from_unexported_function() {
        assert_eq!(libraries("TF_NewStatus", "2.3"), None);
        let expected = Some(BTreeSet::new());
        assert_eq!(libraries("TF_NoSuchFunction", "2.21"), expected);
    }

    #[test]
    fn committed_tables_are_in_canonical_form() {
        for (file, text) in SYMBOLS {
            assert_eq!(&Table::parse(text, file).unwrap().to_json(), text, "{file}");
        }
        let wheels = Symbols::embedded().unwrap().wheels();
        let linux = wheels
            .iter()
            .filter(|wheel| wheel.package == CPU && wheel.platform == LINUX);
        assert!(linux.count() >= 18);
    }
}
