//! Files that only sp-gen writes, such as a table or a snapshot. One that somebody else has edited is not replaced.

use super::fingerprint::{self, Fingerprint};
use super::{Change, Contents, Replacement, ReplacementError, Result, existing_folder, recover};
use crate::input::{self, MAX_TEXT_BYTES};
use std::path::{Path, PathBuf};

/// A file that only sp-gen writes, with the text that was read from it.
#[derive(Debug)]
pub struct TableFile {
    folder: PathBuf,
    path: PathBuf,
    text: Option<String>,
}

impl TableFile {
    /// Finishes or undoes an interrupted replacement in `folder`, and reads the file at `path` below it.
    ///
    /// # Errors
    /// Returns an error as [`recover`] and [`TableFile::read`] do.
    pub fn recover(folder: &Path, path: &Path) -> Result<Self> {
        recover(folder)?;
        Self::read(folder, path)
    }

    /// Reads the file at `path` below `folder`, neither of which need exist. The caller has called [`recover`] for the folder.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not regular, or is not text: then sp-gen did not write it.
    pub fn read(folder: &Path, path: &Path) -> Result<Self> {
        let unreadable = |error| ReplacementError::io(path, error);
        let text = match fingerprint::find(path).map_err(unreadable)? {
            None => None,
            Some(metadata) if !metadata.is_file() => return Err(ReplacementError::irregular(path)),
            Some(_) => {
                let bytes = input::read(path, MAX_TEXT_BYTES).map_err(unreadable)?;
                Some(String::from_utf8(bytes).map_err(|_| ReplacementError::edited(path))?)
            }
        };
        Ok(Self {
            folder: folder.to_owned(),
            path: path.to_owned(),
            text,
        })
    }

    /// Returns the text, or `None` if there is no file.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Checks with `is_printed` that the text is what sp-gen prints for the data in it. Then nothing that somebody else
    /// has written is lost with the file.
    ///
    /// # Errors
    /// Returns an error if it is not.
    pub fn check(&self, is_printed: impl FnOnce(&str) -> bool) -> Result<()> {
        match self.text().is_none_or(is_printed) {
            true => Ok(()),
            false => Err(ReplacementError::edited(&self.path)),
        }
    }

    /// Returns the change of the file to the text `new`, or its removal. It is a change below the root that
    /// [`existing_folder`] returns for the folder.
    ///
    /// # Errors
    /// Returns an error as [`existing_folder`] does.
    pub fn change(&self, new: Option<String>) -> Result<Change> {
        let (root, _) = existing_folder(&self.folder)?;
        let absolute = std::path::absolute(&self.path);
        let absolute = absolute.map_err(|error| ReplacementError::io(&self.path, error))?;
        let below = absolute.strip_prefix(root).unwrap_or(&absolute);
        let old = self.text().map(str::as_bytes);
        Ok(Change {
            path: below.display().to_string(),
            old: old.map(Fingerprint::from_bytes),
            new: new.map(|text| Contents::File(text.into_bytes())),
        })
    }

    /// Replaces the file by one with the text `new`, or creates it. No path below the folder may be a symbolic link.
    ///
    /// # Errors
    /// Returns an error as [`Replacement::apply`] does: if the file was changed since it was read, or cannot be written.
    pub fn replace(&self, new: String) -> Result<Replacement> {
        let (root, _) = existing_folder(&self.folder)?;
        Replacement::apply(&root, &[self.change(Some(new))?])
    }
}
