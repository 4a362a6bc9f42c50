//! Finishes or undoes the replacements of processes that were killed.

use super::journal::{Journal, is_staging_folder};
use super::stage::{JOURNAL, LOCK, Stage, remove_folder};
use super::{ReplacementError, Result, fingerprint, identity};
use crate::file_lock;
use crate::input::{self, MAX_TEXT_BYTES};
use crate::user;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time for which another process may hold a lock.
const LIMIT: Duration = Duration::from_secs(10);

/// Finishes or undoes what killed processes have left in `folder` and in the folders above it. Waits for a process that
/// is writing to `folder`. Folders of other users are not changed.
///
/// # Errors
/// Returns an error if another process writes to `folder` for long, or if a file cannot be restored.
pub fn recover(folder: &Path) -> Result<()> {
    let path = std::path::absolute(folder).map_err(|error| ReplacementError::io(folder, error))?;
    for (distance, root) in path.ancestors().enumerate() {
        for staging in staging_folders(root) {
            let Some(lock) = lock(&staging, root, distance == 0)? else {
                continue;
            };
            match identity::is_own(&lock) {
                Ok(true) => recover_one(root, &staging, lock)?,
                _ if distance == 0 => reject_journal(&staging)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns the staging folders of this user in `root`.
fn staging_folders(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let is_staging = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let metadata = fs::symlink_metadata(path);
        is_staging_folder(&name) && metadata.is_ok_and(|it| it.is_dir() && user::owns(&it))
    };
    let entries = entries.map(|entry| entry.path()).filter(is_staging);
    entries.collect()
}

/// Locks a staging folder. Returns `None` if it is none of sp-gen's, is removed meanwhile, or, unless `waits`, if a
/// process is using it.
fn lock(staging: &Path, root: &Path, waits: bool) -> Result<Option<File>> {
    // A process that is killed before it creates the lock leaves an empty folder.
    let _ = fs::remove_dir(staging);
    let Ok(lock) = input::open_regular_file(&staging.join(LOCK)) else {
        return Ok(None);
    };
    if !waits {
        return Ok(lock.try_lock().is_ok().then_some(lock));
    }
    match file_lock::lock(&lock, root, Some(LIMIT)) {
        Ok(true) => return Ok(Some(lock)),
        Ok(false) => {}
        Err(_) => return Ok(None),
    }
    let path = root.to_owned();
    Err(ReplacementError::Busy(path))
}

/// Returns an error for a journal that nobody may follow. A folder without one is left alone.
fn reject_journal(staging: &Path) -> Result<()> {
    match fingerprint::find(&staging.join(JOURNAL)) {
        Ok(None) => Ok(()),
        _ => Err(ReplacementError::Copied(staging.to_owned())),
    }
}

fn recover_one(root: &Path, staging: &Path, lock: File) -> Result<()> {
    let path = staging.join(JOURNAL);
    let text = match fingerprint::find(&path) {
        // Without a journal, no path was changed yet, or all changes are final.
        Ok(None) => return remove(staging),
        _ => input::read(&path, MAX_TEXT_BYTES)
            .map_err(|error| ReplacementError::io(&path, error))?,
    };
    let journal = Journal::parse(&text, &path, root)?;
    journal.check_contents(staging)?;
    let stage = Stage::open(root, staging, journal, lock);
    if stage.is_exchanged() {
        stage.finish()?;
        stage.remove();
        return Ok(());
    }
    stage.undo("an earlier run was interrupted")
}

fn remove(staging: &Path) -> Result<()> {
    match remove_folder(staging) {
        // Another process has removed it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        result => result.map_err(|error| ReplacementError::io(staging, error)),
    }
}
