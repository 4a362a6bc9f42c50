//! Replaces files and folders below a folder, all or none of them.
//!
//! The new contents are written to `.sp-gen-staged-*` in that folder, with a journal of the changes. Then each old file
//! is renamed into the staging folder, compared with what the caller expects, and the new one is renamed to its path.
//! No step deletes or replaces anything: a file that another program has saved meanwhile stays, and the changes are
//! undone in reverse order. If the process is killed, [`recover`] finishes or undoes them from the journal.
//!
//! Nothing else in sp-gen renames or deletes a user's files. Old contents are deleted only after the new ones are
//! synchronized with the disk. Tables and snapshots are each read as a [`TableFile`], and replaced only if nobody has
//! edited them.
//!
//! sp-gen recognizes its files by their sha256: in `vendor/.sp-gen.json` of a plugin, in `.sp-gen.json` of a release
//! in the store and of a folder that `generate` wrote, in the last line of a manual page. Only in the checkout's
//! `generated/`, which has no other files and is in git, does `generate` replace edited files and remove those with
//! its marker.

mod error;
mod fingerprint;
mod identity;
mod journal;
mod recovery;
mod stage;
mod sync;
mod table;

pub use error::ReplacementError;
pub use fingerprint::{Fingerprint, LISTING};
pub use journal::is_staging_folder;
pub use recovery::recover;
pub use table::TableFile;

use crate::temporary::{Delay, delay_signals};
use stage::Stage;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, ReplacementError>;

/// The contents of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// A file.
    File(Vec<u8>),
    /// A folder with files, by their path in it.
    Folder(BTreeMap<String, Vec<u8>>),
}

/// A change of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path below the root, with `/` between its parts.
    pub path: String,
    /// The contents that the path must have, or `None` if nothing may be there.
    pub old: Option<Fingerprint>,
    /// The new contents, or `None` if the path is to be removed.
    pub new: Option<Contents>,
}

/// Changes that were applied and can still be undone. Dropping it undoes them.
#[derive(Debug)]
#[must_use = "dropping it undoes the changes"]
pub struct Replacement {
    /// `None` once the changes are committed or undone.
    stage: Option<Stage>,
    _delay: Delay,
}

impl Replacement {
    /// Applies `changes` below the folder `root`.
    ///
    /// # Errors
    /// Returns an error if a path is not as expected or cannot be written. All paths are as before then, unless the
    /// error is [`ReplacementError::NotRestored`].
    pub fn apply(root: &Path, changes: &[Change]) -> Result<Self> {
        let delay = delay_signals();
        let stage = Stage::create(root, changes)?;
        if let Err(error) = stage.exchange_all() {
            return Err(match stage.undo(&error.to_string()) {
                Ok(()) => error,
                Err(not_restored) => not_restored,
            });
        }
        Ok(Self {
            stage: Some(stage),
            _delay: delay,
        })
    }

    /// Makes the changes permanent and removes the old contents.
    ///
    /// # Errors
    /// Returns an error if the folders cannot be synchronized. The changes are undone then.
    pub fn commit(mut self) -> Result<()> {
        self.stage.as_ref().map_or(Ok(()), Stage::finish)?;
        if let Some(stage) = self.stage.take() {
            stage.remove();
        }
        Ok(())
    }

    /// Undoes the changes because of `cause`.
    ///
    /// # Errors
    /// Returns an error if a path cannot be restored. Its old contents are in the staging folder then.
    pub fn undo(mut self, cause: &str) -> Result<()> {
        self.stage.take().map_or(Ok(()), |stage| stage.undo(cause))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(stage) = self.stage.take() {
            // The caller reports its own error. The next run undoes what could not be undone here.
            let _ = stage.undo("the command failed");
        }
    }
}

/// Applies and commits `changes` below the folder `root`.
///
/// # Errors
/// Returns an error as [`Replacement::apply`] and [`Replacement::commit`] do.
pub fn replace(root: &Path, changes: &[Change]) -> Result<()> {
    match changes.is_empty() {
        true => Ok(()),
        false => Replacement::apply(root, changes)?.commit(),
    }
}

/// Returns the nearest folder at or above `path` that exists, and the path below it, which is empty for `path` itself.
///
/// # Errors
/// Returns an error if the current directory cannot be determined, or if the path below the folder is not UTF-8: a journal
/// is JSON, and the path that it can state is another one.
pub fn existing_folder(path: &Path) -> Result<(PathBuf, String)> {
    let absolute = std::path::absolute(path).map_err(|error| ReplacementError::io(path, error))?;
    let existing = absolute.ancestors().find(|folder| folder.is_dir());
    let root = existing.unwrap_or(&absolute).to_owned();
    let below = absolute.strip_prefix(&root).unwrap_or(Path::new(""));
    // A backslash is a part of a name, but on Windows, where no component has one.
    let parts = below.components().map(|part| part.as_os_str().to_str());
    match parts.collect::<Option<Vec<&str>>>() {
        Some(parts) => Ok((root, parts.join("/"))),
        None => Err(ReplacementError::NotUtf8(absolute)),
    }
}

#[cfg(test)]
mod tests;
