//! Failures of a replacement.

use miette::Diagnostic;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A failure to replace files.
#[derive(Debug, Error, Diagnostic)]
pub enum ReplacementError {
    /// A file or folder cannot be read or written.
    #[error("cannot write {}: {source}", path.display())]
    #[diagnostic(code(sp_gen::files::unwritable), help("no file was changed"))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another program has created, changed or removed a path since it was read.
    #[error("{} was changed by another program while sp-gen ran", .0.display())]
    #[diagnostic(
        code(sp_gen::files::changed),
        help("no file was changed by sp-gen; run the command again")
    )]
    Changed(PathBuf),
    /// A pipe, a socket or a device is at the path of a file.
    #[error("{} is not a regular file", .0.display())]
    #[diagnostic(
        code(sp_gen::files::irregular),
        help("no file was changed; move it to another folder")
    )]
    Irregular(PathBuf),
    /// A file that only sp-gen writes has other text than it writes.
    #[error("{} differs from what sp-gen wrote", .0.display())]
    #[diagnostic(
        code(sp_gen::files::edited),
        help(
            "the file was not changed. sp-gen would replace it by what it imports: restore it (`git checkout -- FILE` in a \
             checkout), or move it to another folder, and run the command again"
        )
    )]
    Edited(PathBuf),
    /// Two changes are of the same path, or one is of a path in the other.
    #[error("{} and {} are the same file, or one is in the other", first.display(), second.display())]
    #[diagnostic(code(sp_gen::files::overlapping), help("no file was changed"))]
    Overlapping {
        /// A path.
        first: PathBuf,
        /// The other path.
        second: PathBuf,
    },
    /// A path leads out of the folder.
    #[error("{} leads out of its folder, or has a symbolic link", .0.display())]
    #[diagnostic(
        code(sp_gen::files::outside),
        help("no file was changed; replace the link by its target")
    )]
    Outside(PathBuf),
    /// The name of a folder that is to be created is not UTF-8.
    #[error("cannot create {}: its name is not UTF-8", .0.display())]
    #[diagnostic(
        code(sp_gen::files::not_utf8),
        help("no file was changed; use another name, or create the folder yourself")
    )]
    NotUtf8(PathBuf),
    /// Another process writes to the folder.
    #[error("another sp-gen is writing to {}", .0.display())]
    #[diagnostic(
        code(sp_gen::files::busy),
        help("wait until it has ended, and run the command again")
    )]
    Busy(PathBuf),
    /// The journal of an interrupted run is damaged.
    #[error("{} is damaged: {detail}", path.display())]
    #[diagnostic(
        code(sp_gen::files::damaged_journal),
        help(
            "an interrupted run left its folder: move files that you need from old/ in it back, and remove it"
        )
    )]
    Journal {
        /// The journal.
        path: PathBuf,
        /// Description of the problem.
        detail: String,
    },
    /// A staging folder was copied, or somebody else has made it.
    #[error("{} is a copy of what an interrupted sp-gen has left, and was not used", .0.display())]
    #[diagnostic(
        code(sp_gen::files::copied_journal),
        help("move files that you need from old/ in it back, and remove it")
    )]
    Copied(PathBuf),
    /// Files could not be restored after a failure.
    #[error("{cause}; these files could not be restored: {}", files.join(", "))]
    #[diagnostic(
        code(sp_gen::files::not_restored),
        help("their earlier contents are in {}: move what you need, and remove that folder", folder.display())
    )]
    NotRestored {
        /// The failure because of which the changes were undone.
        cause: String,
        /// The files, each with the reason.
        files: Vec<String>,
        /// The folder with their earlier contents.
        folder: PathBuf,
    },
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
