//! The journal of a replacement: what its paths had before, and what they have after it.

use super::fingerprint::{self, Fingerprint};
use super::{Change, Contents, ReplacementError, Result, identity, sync};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path};

/// The first part of the names of staging folders.
pub(super) const PREFIX: &str = ".sp-gen-staged-";

/// Version of the format.
const SCHEMA: u32 = 1;

/// Returns true for the name of a staging folder, which ends with six letters and digits.
pub fn is_staging_folder(name: &str) -> bool {
    sync::is_staged(name, PREFIX)
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    schema: u32,
    pub changes: Vec<JournalEntry>,
    /// The folders that are created, outer ones first.
    pub folders: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournalEntry {
    pub path: String,
    pub old: Option<Fingerprint>,
    pub new: Option<Fingerprint>,
}

impl Journal {
    pub fn new(root: &Path, changes: &[Change]) -> Result<Self> {
        let journal = Self {
            schema: SCHEMA,
            changes: changes.iter().map(JournalEntry::new).collect(),
            folders: absent_folders(root, changes),
        };
        journal.check_distinct(root)?;
        journal.check_paths(root)?;
        Ok(journal)
    }

    /// Parses the text of a journal and checks its paths.
    pub fn parse(text: &[u8], path: &Path, root: &Path) -> Result<Self> {
        let damaged = |detail| ReplacementError::Journal {
            path: path.to_owned(),
            detail,
        };
        let journal: Self =
            serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
        if journal.schema != SCHEMA {
            let detail = format!("its schema is {}, expected {SCHEMA}", journal.schema);
            return Err(damaged(detail));
        }
        journal.check_paths(root)?;
        Ok(journal)
    }

    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("text and numbers only")
    }

    /// Checks that the contents are in the staging folder itself, and not behind a symbolic link in it.
    pub fn check_contents(&self, staging: &Path) -> Result<()> {
        for change in &self.changes {
            for folder in ["new", "old"] {
                check_folders(staging, &format!("{folder}/{}", change.path))?;
            }
        }
        Ok(())
    }

    /// Checks that no path is that of another change, or in it. Of two changes, the second would find the first one's new
    /// contents.
    fn check_distinct(&self, root: &Path) -> Result<()> {
        let mut paths: Vec<&Path> = self.changes.iter().map(|it| Path::new(&it.path)).collect();
        // What is in a folder follows it: paths are compared name by name.
        paths.sort();
        let is_nested = |pair: &&[&Path]| pair[1].starts_with(pair[0]);
        if let Some(pair) = paths.windows(2).find(is_nested) {
            return Err(overlapping(root, pair[0], pair[1]));
        }
        let mut files = BTreeMap::new();
        for path in paths {
            let number = fingerprint::find(&root.join(path)).ok().flatten();
            let number = number.and_then(|metadata| identity::single_name(&metadata));
            if let Some(first) = number.and_then(|number| files.insert(number, path)) {
                return Err(overlapping(root, first, path));
            }
        }
        Ok(())
    }

    /// Checks that every path is below `root`, and not through a symbolic link.
    fn check_paths(&self, root: &Path) -> Result<()> {
        let paths = self.changes.iter().map(|change| &change.path);
        for path in paths.chain(&self.folders) {
            if !is_below(path) {
                let path = root.join(path);
                return Err(ReplacementError::Outside(path));
            }
            check_folders(root, path)?;
        }
        Ok(())
    }
}

impl JournalEntry {
    fn new(change: &Change) -> Self {
        Self {
            path: change.path.clone(),
            old: change.old.clone(),
            new: change.new.as_ref().map(Contents::fingerprint),
        }
    }
}

impl Contents {
    fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::File(bytes) => Fingerprint::from_bytes(bytes),
            Self::Folder(files) => {
                let files = files.iter();
                Fingerprint::from_files(files.map(|(path, bytes)| (path.as_str(), &bytes[..])))
            }
        }
    }

    /// Returns the files of `path` if it has these contents.
    pub(super) fn files<'a>(&'a self, path: &Path) -> Vec<(std::path::PathBuf, &'a [u8])> {
        match self {
            Self::File(bytes) => vec![(path.to_owned(), bytes)],
            Self::Folder(files) => {
                let files = files.iter();
                files
                    .map(|(file, bytes)| (path.join(file), &bytes[..]))
                    .collect()
            }
        }
    }
}

/// Returns true for a relative path of names only. `a//b` and `a/./b` would be further names of `a/b`.
fn is_below(path: &str) -> bool {
    let is_name = |part: &str| {
        let name = Component::Normal(part.as_ref());
        Path::new(part).components().eq([name])
    };
    path.split(std::path::is_separator).all(is_name)
}

fn overlapping(root: &Path, first: &Path, second: &Path) -> ReplacementError {
    ReplacementError::Overlapping {
        first: root.join(first),
        second: root.join(second),
    }
}

/// Checks that what exists above `path`, below `root`, are folders.
fn check_folders(root: &Path, path: &str) -> Result<()> {
    let above = Path::new(path).ancestors().skip(1);
    for folder in above.filter(|folder| !folder.as_os_str().is_empty()) {
        let path = root.join(folder);
        match fingerprint::find(&path) {
            Ok(Some(metadata)) if metadata.is_symlink() => {
                return Err(ReplacementError::Outside(path));
            }
            Ok(Some(metadata)) if !metadata.is_dir() => {
                let error = io::ErrorKind::NotADirectory.into();
                return Err(ReplacementError::io(&path, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the folders that new paths need and that do not exist.
fn absent_folders(root: &Path, changes: &[Change]) -> Vec<String> {
    let new = changes.iter().filter(|change| change.new.is_some());
    let above = new.flat_map(|change| Path::new(&change.path).ancestors().skip(1));
    let is_absent = |folder: &&Path| {
        !folder.as_os_str().is_empty() && matches!(fingerprint::find(&root.join(folder)), Ok(None))
    };
    let mut absent: Vec<String> = above
        .filter(is_absent)
        .map(|folder| folder.to_string_lossy().into_owned())
        .collect();
    absent.sort();
    absent.dedup();
    absent
}
