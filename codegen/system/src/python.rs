//! Runs the user's Python without importing anything from the current directory.
//!
//! `python -m` and `python -c` put the current directory first on `sys.path`. A file `pip.py` there would be
//! imported in place of pip. Two measures are needed, because no single one covers Python 3.8 to 3.13:
//!
//! - The working directory is an empty private one. This works in every release, and also for empty and
//!   relative entries of `PYTHONPATH`.
//! - `PYTHONSAFEPATH` leaves the working directory out of `sys.path`. Python 3.10 and older ignore it; the
//!   option `-P` would be an error there.
//!
//! Isolated mode, `-I`, is not used: it also ignores the user's site-packages, where pip may be installed,
//! and the `PYTHON*` variables that may be needed to find it.

use crate::temporary::removed_on_signal;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a command that runs `program`, a path or a name to be looked up in `PATH`, in `folder`, which must be a
/// private one.
///
/// # Errors
/// Returns an error if `program` is a relative path and the current directory cannot be read.
pub fn command(program: &Path, folder: &Path) -> io::Result<Command> {
    let mut command = Command::new(absolute(program)?);
    command.current_dir(folder).env("PYTHONSAFEPATH", "1");
    Ok(command)
}

/// Creates an empty folder that only this user can read. It is deleted when it is dropped.
///
/// # Errors
/// Returns an error if the folder cannot be created.
pub fn private_folder() -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("sp-gen-python-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    removed_on_signal(|| builder.tempdir())
}

/// Resolves a relative path, which would otherwise be looked up in the private directory.
fn absolute(program: &Path) -> io::Result<PathBuf> {
    match program.components().count() {
        1 => Ok(program.to_owned()),
        _ => std::path::absolute(program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_relative_program_path_against_current_directory() {
        let program = absolute(Path::new("environment/bin/python")).unwrap();
        assert!(program.is_absolute() && program.ends_with("environment/bin/python"));
        let expected = Path::new("python3");
        assert_eq!(absolute(Path::new("python3")).unwrap(), expected);
    }
}
