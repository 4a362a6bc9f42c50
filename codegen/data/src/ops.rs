//! Op definitions: the embedded table, over it what the user has imported, and the nightly builds in the user's cache.

use crate::folders::DataFolders;
use miette::Diagnostic;
use sp_ops::{Registry, Table, TableError};
use sp_system::errors;
use sp_system::input;
use std::io;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use thiserror::Error;

errors! {
    /// A table of ops cannot be read or written.
    #[derive(Debug, Error, Diagnostic)]
    pub enum OpTableError in ops {
        /// The file cannot be read or written.
        Unreadable { path: PathBuf, source: io::Error } = unreadable: ("{}: {source}", path.display());

        /// The file is not a table of ops.
        Malformed {
            path: PathBuf,
            /// The line and the reason.
            source: TableError,
        } = malformed: ("{}: {source}", path.display()),
            help("restore the file, or remove it and import its releases again: `sp-gen import tensorflow --ops`");
    }
}

/// Returns the table of all releases.
///
/// # Errors
/// Returns an error if a file cannot be read or is not a table.
pub fn load(folders: &DataFolders) -> Result<Table<'static>, OpTableError> {
    let nightlies = match DataFolders::nightlies() {
        Some(nightlies) => read(&nightlies.ops)?,
        None => None,
    };
    let stored = read(&folders.ops)?;
    if let (None, true, None) = (&stored, folders.extends_embedded, &nightlies) {
        return Ok(Table::embedded().clone());
    }
    if let (Some(stored), false, None) = (&stored, folders.extends_embedded, &nightlies) {
        return Ok(stored.clone());
    }
    let mut registry = registry(stored, folders.extends_embedded);
    registry.add_absent(
        nightlies
            .as_ref()
            .map(Registry::from_table)
            .unwrap_or_default(),
    );
    Table::parse(registry.to_text()).map_err(|source| malformed(&folders.ops, source))
}

/// Returns the ops that the table of `folders` contains, to which an import adds.
///
/// # Errors
/// Returns an error if the file cannot be read or is not a table.
pub fn read_registry(folders: &DataFolders) -> Result<Registry, OpTableError> {
    Ok(registry(read(&folders.ops)?, folders.extends_embedded))
}

fn registry(stored: Option<Table<'_>>, extends_embedded: bool) -> Registry {
    let registry = stored.as_ref().map(Registry::from_table);
    let mut registry = registry.unwrap_or_default();
    if extends_embedded {
        registry.add_absent(Registry::from_table(Table::embedded()));
    }
    registry
}

/// Reads a table, or returns `None` if there is no such file.
fn read(path: &Path) -> Result<Option<Table<'static>>, OpTableError> {
    match input::read_text(path) {
        Ok(text) => Table::parse(text)
            .map(Some)
            .map_err(|source| malformed(path, source)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(OpTableError::Unreadable {
            path: path.to_owned(),
            source,
        }),
    }
}

fn malformed(path: &Path, source: TableError) -> OpTableError {
    OpTableError::Malformed {
        path: path.to_owned(),
        source,
    }
}
