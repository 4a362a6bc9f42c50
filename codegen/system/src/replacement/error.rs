//! Failures of a replacement.

use crate::errors;
use miette::Diagnostic;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

errors! {
    /// A failure to replace files.
    #[derive(Debug, Error, Diagnostic)]
    pub enum ReplacementError in files {
        /// A file or folder cannot be read or written.
        Io { path: PathBuf, source: io::Error } = unwritable: ("cannot write {}: {source}", path.display()),
            help("no file was changed");

        /// Another program has created, changed or removed a path since it was read.
        Changed(PathBuf) = changed: ("{} was changed by another program while sp-gen ran", .0.display()),
            help("no file was changed by sp-gen; run the command again");

        /// A pipe, a socket or a device is at the path of a file.
        Irregular(PathBuf) = irregular: ("{} is not a regular file", .0.display()),
            help("no file was changed; move it to another folder");

        /// A file that only sp-gen writes has other text than it writes.
        Edited(PathBuf) = edited: ("{} differs from what sp-gen wrote", .0.display()),
            help("the file was not changed. sp-gen would replace it by what it imports: restore it (`git checkout \
                  -- FILE` in a \
             checkout), or move it to another folder, and run the command again");

        /// Two changes are of the same path, or one is of a path in the other.
        Overlapping { first: PathBuf, second: PathBuf }
            = overlapping: ("{} and {} are the same file, or one is in the other", first.display(), second.display()),
            help("no file was changed");

        /// A path leads out of the folder.
        Outside(PathBuf) = outside: ("{} leads out of its folder, or has a symbolic link", .0.display()),
            help("no file was changed; replace the link by its target");

        /// The name of a folder that is to be created is not UTF-8.
        NotUtf8(PathBuf) = not_utf8: ("cannot create {}: its name is not UTF-8", .0.display()),
            help("no file was changed; use another name, or create the folder yourself");

        /// Another process writes to the folder.
        Busy(PathBuf) = busy: ("another sp-gen is writing to {}", .0.display()),
            help("wait until it has ended, and run the command again");

        /// The journal of an interrupted run is damaged.
        Journal { path: PathBuf, detail: String }
            = damaged_journal: ("{} is damaged: {detail}", path.display()),
            help("an interrupted run left its folder: move files that you need from old/ in it back, and remove it");

        /// A staging folder was copied, or somebody else has made it.
        Copied(PathBuf)
            = copied_journal: ("{} is a copy of what an interrupted sp-gen has left, and was not used", .0.display()),
            help("move files that you need from old/ in it back, and remove it");

        /// Files could not be restored after a failure.
        NotRestored {
            /// The failure because of which the changes were undone.
            cause: String,
            /// The files, each with the reason.
            files: Vec<String>,
            /// The folder with their earlier contents.
            folder: PathBuf,
        } = not_restored: ("{cause}; these files could not be restored: {}", files.join(", ")),
            help("their earlier contents are in {}: move what you need, and remove that folder", folder.display());
    }
}

impl ReplacementError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Io { path, source }
    }

    /// Returns the error for a path at which neither a regular file nor a folder is.
    pub(super) fn irregular(path: &Path) -> Self {
        match path.is_symlink() {
            true => Self::Outside(path.to_owned()),
            false => Self::Irregular(path.to_owned()),
        }
    }

    pub(super) fn edited(path: &Path) -> Self {
        Self::Edited(path.to_owned())
    }

    pub(super) fn changed(path: &Path) -> Self {
        Self::Changed(path.to_owned())
    }
}
