//! A release that was read and not yet written.
//!
//! A new release is parsed from a temporary folder. Only if that succeeds is it written to the store, and then to
//! the lock: a failed import leaves no entry that later imports would fail on.

use super::ImportSummary;
use super::error::FetchError;
use super::exclusive::ExclusiveLock;
use super::lock::{Lock, LockedRelease};
use super::store::{self, Store};
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_parse::api_headers::Headers;
use sp_system::replacement::TableFile;
use std::path::Path;
use tempfile::TempDir;

/// A release whose headers were read and agree with the lock.
#[derive(Debug)]
pub struct Fetched {
    /// Summary of the import, valid after [`Fetched::commit`].
    pub summary: ImportSummary,
    /// The folders of headers, lock and snapshots.
    pub folders: DataFolders,
    pub(super) new: Option<NewRelease>,
}

/// A release that the lock does not have. It is written after its headers were parsed.
#[derive(Debug)]
pub(super) struct NewRelease {
    entry: LockedRelease,
    headers: Headers,
    folder: TempDir,
}

impl NewRelease {
    pub(super) fn unpack(entry: LockedRelease, headers: Headers) -> Result<Self, FetchError> {
        let folder = store::unpack(&headers).map_err(|error| FetchError::StoreUnwritable {
            path: std::env::temp_dir().display().to_string(),
            detail: error.to_string(),
        })?;
        Ok(Self {
            entry,
            headers,
            folder,
        })
    }
}

impl Fetched {
    /// Returns the include root to be parsed.
    pub fn include(&self) -> &Path {
        match &self.new {
            Some(new) => new.folder.path(),
            None => &self.summary.include,
        }
    }

    /// Calls `write`, which writes the snapshots. Then adds a new release to the store and, last, to the lock.
    ///
    /// # Errors
    /// Returns the error of `write`, or an error if another import locked different headers meanwhile. The
    /// lock is unchanged then.
    pub fn commit<T, E: From<FetchError>>(
        &self,
        write: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(new) = &self.new else {
            return write();
        };
        let (release, folders) = (self.summary.release, &self.folders);
        let _file_lock = ExclusiveLock::acquire(&folders.lock)?;
        let folder = folders.lock.parent().unwrap_or(&folders.lock);
        let file = TableFile::recover(folder, &folders.lock).map_err(FetchError::from)?;
        // Another process may have added releases since the lock was read.
        let lock = Lock::read(&folders.lock, folders.extends_embedded)?;
        let mut own_lock = Lock::read(&folders.lock, false)?;
        let new_lock = match compare_with_lock(&lock, release, &new.entry, &folders.lock)? {
            LockStatus::Locked => None,
            LockStatus::New => {
                file.check(Lock::is_printed).map_err(FetchError::from)?;
                own_lock.add(release, new.entry.clone(), &folders.lock)?;
                Some((&own_lock, &file))
            }
        };
        let written = write()?;
        Store::new(folders.store.clone()).write(release, &new.headers, new_lock)?;
        Ok(written)
    }
}

/// Result of comparing a release with the lock.
pub(super) enum LockStatus {
    /// The lock has it, with the same headers.
    Locked,
    /// The lock does not have it, and it may be added.
    New,
}

/// Compares headers with the lock, or checks that a new release can be added to it.
///
/// # Errors
/// Returns an error if the headers differ, or if the release is older than a locked one that replaces it.
pub(super) fn compare_with_lock(
    lock: &Lock,
    release: Release,
    entry: &LockedRelease,
    path: &Path,
) -> Result<LockStatus, FetchError> {
    if let Some(locked) = lock.releases.get(&release) {
        return locked
            .check_hashes(release, &entry.headers, path)
            .map(|()| LockStatus::Locked);
    }
    lock.clone().add(release, entry.clone(), path)?;
    Ok(LockStatus::New)
}
