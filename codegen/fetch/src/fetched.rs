//! A release that was read: what is written of it, and when.
//!
//! A new release is parsed from a temporary folder. The store gets it, and last the lock, only if that
//! succeeded: a failed import leaves no entry that later imports would fail on.

use super::Imported;
use super::error::FetchError;
use super::exclusive::Exclusive;
use super::lock::{Lock, Locked};
use super::store::{self, Store};
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_parse::api_headers::Headers;
use std::path::Path;
use tempfile::TempDir;

/// A release whose headers were read and agree with the lock.
#[derive(Debug)]
pub struct Fetched {
    /// Summary of the import, valid after [`Fetched::commit`].
    pub done: Imported,
    /// The release's folder in the store.
    pub place: DataFolders,
    pub(super) new: Option<New>,
}

/// A release that the lock does not have. Until its headers are parsed, nothing of it is written.
#[derive(Debug)]
pub(super) struct New {
    entry: Locked,
    headers: Headers,
    unpacked: TempDir,
}

impl New {
    pub(super) fn unpack(entry: Locked, headers: Headers) -> Result<Self, FetchError> {
        let unpacked = store::unpack(&headers).map_err(|error| FetchError::StoreUnwritable {
            path: std::env::temp_dir().display().to_string(),
            detail: error.to_string(),
        })?;
        Ok(Self {
            entry,
            headers,
            unpacked,
        })
    }
}

impl Fetched {
    /// Returns the include root to be parsed.
    pub fn include(&self) -> &Path {
        match &self.new {
            Some(new) => new.unpacked.path(),
            None => &self.done.include,
        }
    }

    /// Calls `write` for what was parsed, and then adds a new release to the store and, last, to the lock.
    ///
    /// # Errors
    /// Returns the error of `write`, or an error if another import has locked other headers meanwhile. The
    /// lock is unchanged then.
    pub fn commit<T, E: From<FetchError>>(
        &self,
        write: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(new) = &self.new else {
            return write();
        };
        let (release, place) = (self.done.release, &self.place);
        let _turn = Exclusive::acquire(&place.lock)?;
        // Another process may have added releases since.
        let known = Lock::read(&place.lock, place.extends_embedded)?;
        let mut own = Lock::read(&place.lock, false)?;
        let appended = match admitted(&known, release, &new.entry, &place.lock)? {
            Admitted::Locked => None,
            Admitted::New => {
                own.add(release, new.entry.clone(), &place.lock)?;
                Some((&own, &*place.lock))
            }
        };
        let written = write()?;
        Store::at(place.store.clone()).put(release, &new.headers, appended)?;
        Ok(written)
    }
}

/// How a release stands to the lock.
pub(super) enum Admitted {
    /// The lock has it, with the same headers.
    Locked,
    /// The lock may get it.
    New,
}

/// Compares headers with the lock, or checks that they can be added to it.
pub(super) fn admitted(
    lock: &Lock,
    release: Release,
    entry: &Locked,
    path: &Path,
) -> Result<Admitted, FetchError> {
    if let Some(locked) = lock.release.get(&release) {
        return locked
            .check(release, &entry.headers, path)
            .map(|()| Admitted::Locked);
    }
    lock.clone().add(release, entry.clone(), path)?;
    Ok(Admitted::New)
}
