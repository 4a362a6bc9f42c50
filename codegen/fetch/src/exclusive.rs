//! One writer at a time, among threads and processes: parallel imports read and write the same lock and
//! the same tables.

use super::error::FetchError;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The right to write beside a file, until it is dropped.
#[derive(Debug)]
pub struct Exclusive {
    /// Closing it releases the lock, also if the process ends early.
    _file: File,
}

impl Exclusive {
    /// Waits until no other thread or process writes beside `path`. The lock is on a file of its own,
    /// `.NAME.lock`, because `path` itself is replaced by a rename.
    ///
    /// # Errors
    /// Returns an error if the file system cannot create or lock that file.
    pub fn acquire(path: &Path) -> Result<Self, FetchError> {
        let guard = guard_file(path);
        open_locked(&guard)
            .map(|file| Self { _file: file })
            .map_err(|error| FetchError::LockUnavailable {
                path: guard.display().to_string(),
                detail: error.to_string(),
            })
    }
}

fn guard_file(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.lock"))
}

fn open_locked(guard: &Path) -> io::Result<File> {
    fs::create_dir_all(guard.parent().unwrap_or(Path::new(".")))?;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(guard)?;
    file.lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_released_when_dropped() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("cache/sources.toml");
        let held = Exclusive::acquire(&path).unwrap();
        let other = File::open(scratch.path().join("cache/.sources.toml.lock")).unwrap();
        assert!(other.try_lock().is_err());
        drop(held);
        assert!(other.try_lock().is_ok());
    }

    #[test]
    fn names_the_file_that_cannot_be_locked() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("sources.toml");
        fs::create_dir(guard_file(&path)).unwrap();
        let error = Exclusive::acquire(&path).unwrap_err().to_string();
        assert!(error.contains(".sources.toml.lock"), "{error}");
    }
}
