//! A file lock that excludes other threads and processes: parallel imports read and write the same lock and
//! the same tables.

use super::error::FetchError;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sp_system::file_lock;

/// Exclusive permission to write a file; dropping it releases the file lock.
#[derive(Debug)]
pub struct ExclusiveLock {
    /// Closing it releases the file lock, also if the process is killed.
    _file: File,
}

impl ExclusiveLock {
    /// Waits until no other thread or process holds the file lock of `path`. The locked file is `.NAME.lock`
    /// beside `path`, because `path` itself is replaced by a rename.
    ///
    /// # Errors
    /// Returns an error if the file system cannot create or lock that file.
    pub fn acquire(path: &Path) -> Result<Self, FetchError> {
        let lock_path = lock_file_path(path);
        open_locked(&lock_path)
            .map(|file| Self { _file: file })
            .map_err(|error| FetchError::FileLockUnavailable {
                path: lock_path.display().to_string(),
                detail: error.to_string(),
            })
    }
}

fn lock_file_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.lock"))
}

fn open_locked(lock_path: &Path) -> io::Result<File> {
    fs::create_dir_all(lock_path.parent().unwrap_or(Path::new(".")))?;
    let file = file_lock::open(lock_path)?;
    file_lock::lock(&file, lock_path, None)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_file_lock_when_dropped() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("cache/sources.toml");
        let lock = ExclusiveLock::acquire(&path).unwrap();
        let other = File::open(scratch.path().join("cache/.sources.toml.lock")).unwrap();
        assert!(other.try_lock().is_err());
        drop(lock);
        assert!(other.try_lock().is_ok());
    }

    #[test]
    fn error_names_file_that_cannot_be_locked() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("sources.toml");
        fs::create_dir(lock_file_path(&path)).unwrap();
        let error = ExclusiveLock::acquire(&path).unwrap_err().to_string();
        assert!(error.contains(".sources.toml.lock"), "{error}");
    }
}
