//! Which library of which package exports a function, by release and platform, as data.
//!
//! Availability is a set of (release, package, platform), gaps allowed; a cell that was not read is
//! not known, which is not the same as "not exported".

pub mod runs;
pub mod table;

use crate::embedded::SYMBOLS;
use crate::folders::DataFolders;
use crate::platform::Platform;
use crate::release::Release;
use miette::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};
use table::Table;
use thiserror::Error;

/// Where a function may be exported: one wheel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The minor release.
    pub release: Release,
    /// `tensorflow-cpu`
    pub package: String,
    /// The platform of the wheel.
    pub platform: Platform,
}

/// What all tables say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbols {
    tables: Vec<Table>,
}

/// Where one function is exported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Availability {
    /// The libraries that export it, where any does.
    pub exported: BTreeMap<Cell, BTreeSet<String>>,
    /// Wheels that were read and do not export it.
    pub absent: BTreeSet<Cell>,
}

/// A table of symbols cannot be used.
#[derive(Debug, Error, Diagnostic)]
pub enum SymbolsError {
    /// It cannot be read or written.
    #[error("{}: {source}", path.display())]
    #[diagnostic(code(sp_gen::symbols::unreadable))]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is no table.
    #[error("{file}: {reason}")]
    #[diagnostic(
        code(sp_gen::symbols::malformed),
        help("write it again with `sp-gen import tensorflow all --symbols`")
    )]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong.
        reason: String,
    },
}

impl Symbols {
    /// The tables in the binary.
    pub fn embedded() -> Result<Self, SymbolsError> {
        let tables = SYMBOLS.iter().map(|(file, text)| Table::parse(text, file));
        Ok(Self {
            tables: tables.collect::<Result<_, _>>()?,
        })
    }

    /// What a place has: the checkout's tables; elsewhere the binary's, and over them the user's.
    pub fn at(place: &DataFolders) -> Result<Self, SymbolsError> {
        let mut known = Self::read(&place.symbols)?;
        if place.inherits {
            known.complete(Self::embedded()?);
        }
        Ok(known)
    }

    /// Takes in what these tables lack and others have.
    fn complete(&mut self, others: Self) {
        for other in others.tables {
            let is_it =
                |one: &&mut Table| (&one.package, one.platform) == (&other.package, other.platform);
            match self.tables.iter_mut().find(is_it) {
                Some(table) => table.complete(&other),
                None => self.tables.push(other),
            }
        }
    }

    /// The tables in a folder, which need not exist.
    pub fn read(folder: &Path) -> Result<Self, SymbolsError> {
        let mut tables = Vec::new();
        for package in entries(folder)? {
            for file in entries(&package)? {
                let read = fs::read_to_string(&file);
                let text = read.map_err(|source| SymbolsError::Unreadable {
                    path: file.clone(),
                    source,
                })?;
                tables.push(Table::parse(&text, &file.display().to_string())?);
            }
        }
        Ok(Self { tables })
    }

    /// These tables.
    pub fn of(tables: Vec<Table>) -> Self {
        Self { tables }
    }

    /// What was known when `release` was the newest.
    pub fn until(&self, release: Release) -> Self {
        Self::of(
            self.tables
                .iter()
                .filter_map(|it| it.until(release))
                .collect(),
        )
    }

    /// One table per package and platform.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Every wheel that was read.
    pub fn cells(&self) -> BTreeSet<Cell> {
        let cells = self.tables.iter().flat_map(Table::cells);
        cells.collect()
    }

    /// Every function that some wheel exports.
    pub fn functions(&self) -> BTreeSet<&str> {
        self.tables.iter().flat_map(Table::functions).collect()
    }

    /// Where a function is exported.
    pub fn availability(&self, function: &str) -> Availability {
        let mut found = Availability::default();
        for table in &self.tables {
            let libraries = table.libraries(function);
            for cell in table.cells() {
                match libraries.get(&cell.release) {
                    Some(libraries) => drop(found.exported.insert(cell, libraries.clone())),
                    None => drop(found.absent.insert(cell)),
                }
            }
        }
        found
    }
}

impl Availability {
    /// Whether some wheel that was read exports it.
    pub fn is_exported(&self) -> bool {
        !self.exported.is_empty()
    }

    /// Whether every wheel of a release does; nothing where none was read.
    pub fn in_all_of(&self, release: Release) -> Option<bool> {
        let of = |cell: &&Cell| cell.release == release.key();
        let (yes, no) = (
            self.exported.keys().filter(of).count(),
            self.absent.iter().filter(of).count(),
        );
        (yes + no > 0).then_some(no == 0)
    }

    /// The libraries of one wheel that export it; nothing where that wheel was not read.
    pub fn libraries(&self, cell: &Cell) -> Option<BTreeSet<String>> {
        let known = self.exported.get(cell).cloned();
        known.or_else(|| self.absent.contains(cell).then(BTreeSet::new))
    }

    /// The releases in which a package for a platform exports it.
    pub fn releases(&self, package: &str, platform: Platform) -> BTreeSet<Release> {
        let here = |cell: &&Cell| cell.package == package && cell.platform == platform;
        self.exported
            .keys()
            .filter(here)
            .map(|cell| cell.release)
            .collect()
    }
}

/// What the wheel of one release exports, as `place` has it: function to libraries, none for those that
/// only other releases export. Nothing where that wheel was not read.
pub fn exported(
    place: &DataFolders,
    package: &str,
    platform: Platform,
    release: Release,
) -> Result<Option<BTreeMap<String, BTreeSet<String>>>, SymbolsError> {
    let name = format!("{package}/{platform}.json");
    let path = place.symbols.join(&name);
    let carried = SYMBOLS.iter().find(|(file, _)| *file == name);
    match fs::read_to_string(&path) {
        Ok(text) => table::exported(&text, &path.display().to_string(), release),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(SymbolsError::Unreadable {
            path,
            source: error,
        }),
        Err(_) => match carried.filter(|_| place.inherits) {
            Some((file, text)) => table::exported(text, file, release),
            None => Ok(None),
        },
    }
}

/// What a folder has, sorted; nothing where there is none.
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
    let hidden = |path: &PathBuf| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        name.is_none_or(|name| name.starts_with('.'))
    };
    paths.retain(|path| !hidden(path));
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: &str = "tensorflow-cpu";
    const LINUX: Platform = Platform::LinuxX86_64;

    fn cell(release: &str) -> Cell {
        Cell {
            release: release.parse().unwrap(),
            package: CPU.into(),
            platform: LINUX,
        }
    }

    fn library(name: &str, release: &str) -> Option<BTreeSet<String>> {
        Symbols::embedded()
            .unwrap()
            .availability(name)
            .libraries(&cell(release))
    }

    fn only(name: &str) -> Option<BTreeSet<String>> {
        Some(BTreeSet::from([name.to_owned()]))
    }

    #[test]
    fn grappler_moved_from_pywrap_to_the_cc_library() {
        let name = "TF_GetNodesToPreserveListSize";
        assert_eq!(
            library(name, "2.11"),
            only("_pywrap_tensorflow_internal.so")
        );
        assert_eq!(library(name, "2.12"), only("libtensorflow_cc.so.2"));
        assert_eq!(
            library("TF_NewStatus", "2.21"),
            only("libtensorflow_framework.so.2")
        );
    }

    #[test]
    fn the_experimental_kernel_functions_are_gone_from_2_19() {
        let symbols = Symbols::embedded().unwrap();
        let found = symbols.availability("TF_AssignVariable");
        for release in ["2.19", "2.20", "2.21"] {
            assert!(found.absent.contains(&cell(release)), "{release}");
        }
        assert!(found.is_exported());
    }

    #[test]
    fn one_release_alone_is_read_as_its_table_says() {
        for (file, text) in SYMBOLS {
            let table = Table::parse(text, file).unwrap();
            for release in table.wheels().keys() {
                let found = table::exported(text, file, *release).unwrap().unwrap();
                assert_eq!(found.len(), table.functions().count());
                for (function, libraries) in found {
                    let known = table.libraries(&function).remove(release);
                    assert_eq!(known.unwrap_or_default(), libraries, "{function} {release}");
                }
            }
            let unread = "2.3".parse().unwrap();
            assert_eq!(table::exported(text, file, unread).unwrap(), None);
        }
    }

    #[test]
    fn a_wheel_that_was_not_read_is_not_known() {
        assert_eq!(library("TF_NewStatus", "2.3"), None);
        assert_eq!(library("TF_NoSuchFunction", "2.21"), Some(BTreeSet::new()));
    }

    #[test]
    fn what_is_committed_is_as_it_would_be_written() {
        for (file, text) in SYMBOLS {
            assert_eq!(&Table::parse(text, file).unwrap().text(), text, "{file}");
        }
        let cells = Symbols::embedded().unwrap().cells();
        let linux = cells
            .iter()
            .filter(|cell| cell.package == CPU && cell.platform == LINUX);
        assert!(linux.count() >= 18);
    }
}
