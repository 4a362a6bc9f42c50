//! The sha256 of a file, or of all files of a folder.

use crate::hash::sha256;
use crate::input::{self, MAX_LIBRARY_BYTES, MAX_TEXT_BYTES};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

/// The file in a folder with the fingerprint of the files that sp-gen wrote to it.
pub const LISTING: &str = ".sp-gen.json";

/// Entry of a symbolic link or special file. It equals no hash, but itself: nothing that has one is replaced.
const NOT_A_FILE: &str = "not a regular file";

/// sha256 by path in a folder. A file has one entry with an empty path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub BTreeMap<String, String>);

impl Fingerprint {
    /// Returns the fingerprint of a file with `bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self::from_files([("", bytes)])
    }

    /// Returns the fingerprint of a folder with `files`.
    pub fn from_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let entry = |(path, bytes): (&str, &[u8])| (path.to_owned(), sha256(bytes));
        Self(files.into_iter().map(entry).collect())
    }

    /// Reads the file or folder at `path`. Returns `None` if nothing is there.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        let Some(metadata) = find(path)? else {
            return Ok(None);
        };
        let mut entries = BTreeMap::new();
        read_into(path, "", &metadata, &mut entries)?;
        Ok(Some(Self(entries)))
    }

    /// Returns the path of a symbolic link or special file in it, or `None` if it has regular files only.
    pub(super) fn irregular_file(&self) -> Option<&str> {
        let mut entries = self.0.iter();
        let (path, _) = entries.find(|(_, hash)| *hash == NOT_A_FILE)?;
        Some(path)
    }

    /// Reads the listing of `folder`. Returns `None` if it is absent or invalid.
    pub fn read_listing(folder: &Path) -> Option<Self> {
        let text = input::read(&folder.join(LISTING), MAX_TEXT_BYTES).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Formats the fingerprint as JSON, for a listing.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        format!("{}\n", text.expect("a map of strings always serializes"))
    }

    /// Returns true if `path` has these bytes.
    pub fn has(&self, path: &str, bytes: &[u8]) -> bool {
        self.0.get(path).is_some_and(|hash| *hash == sha256(bytes))
    }
}

/// Returns the metadata of a path, without following a link, or `None` if nothing is there.
pub(super) fn find(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_absent(error: &io::Error) -> bool {
    let kind = error.kind();
    kind == io::ErrorKind::NotFound || kind == io::ErrorKind::NotADirectory
}

fn read_into(
    path: &Path,
    name: &str,
    metadata: &Metadata,
    entries: &mut BTreeMap<String, String>,
) -> io::Result<()> {
    if metadata.is_dir() {
        return read_folder(path, name, entries);
    }
    let hash = match metadata.is_file() {
        true => sha256(input::read(path, MAX_LIBRARY_BYTES)?),
        false => NOT_A_FILE.to_owned(),
    };
    entries.insert(name.to_owned(), hash);
    Ok(())
}

fn read_folder(path: &Path, name: &str, entries: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let inner = match name.is_empty() {
            true => file,
            false => format!("{name}/{file}"),
        };
        read_into(&entry.path(), &inner, &entry.metadata()?, entries)?;
    }
    Ok(())
}
