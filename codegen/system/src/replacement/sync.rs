//! Writes that are on the disk when the function returns: after a loss of power, a renamed file has its contents.

use super::ReplacementError;
use super::fingerprint;
use crate::{input, parallel, temporary};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Number of threads that write files. They wait for the disk, which synchronizes several files at once.
const WRITERS: usize = 16;

/// Writes `bytes` to a temporary file beside `path` and renames it to `path`. Creates the folder of `path`.
///
/// # Errors
/// Returns an error if the file cannot be written. `path` is as before then.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let _delay = temporary::delay_signals();
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let prefix = staged_prefix(path);
    remove_leftovers(folder, &prefix)?;
    let mut file = locked_file(folder, &prefix)?;
    file.write_all(bytes)?;
    sync(file.as_file(), path)?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Returns the first part of the names of temporary files for `path`: `.sources.toml.sp-gen-staged-`.
fn staged_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{name}.sp-gen-staged-")
}

/// Creates a temporary file and locks it, again if another process has removed it before it was locked.
fn locked_file(folder: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    loop {
        let file = temporary::staged_file(folder, prefix)?;
        file.as_file().lock()?;
        if file.path().exists() {
            return Ok(file);
        }
    }
}

/// Removes the temporary files of processes that were killed. Those of running processes are locked.
fn remove_leftovers(folder: &Path, prefix: &str) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let is_staged = is_staged(&entry.file_name().to_string_lossy(), prefix);
        let is_file = is_staged && entry.file_type()?.is_file();
        let opened = || input::open_regular_file(&entry.path());
        let is_left = is_file && opened().is_ok_and(|it| it.try_lock().is_ok());
        if is_left {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Returns true for a name of `temporary::staged_file`: the prefix, and six letters and digits.
pub(super) fn is_staged(name: &str, prefix: &str) -> bool {
    let random = name.strip_prefix(prefix);
    random.is_some_and(|it| it.len() == 6 && it.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Creates files and, with `is_synced`, synchronizes them.
pub(super) fn write_all(
    files: &[(PathBuf, &[u8])],
    is_synced: bool,
) -> Result<(), ReplacementError> {
    let write = |(path, bytes): &(PathBuf, &[u8])| {
        let write = || {
            create_parent(path)?;
            let mut file = File::create_new(path)?;
            file.write_all(bytes)?;
            match is_synced {
                true => sync(&file, path),
                false => Ok(()),
            }
        };
        write().map_err(|error| ReplacementError::io(path, error))
    };
    parallel::map_on(WRITERS, files, write)
        .into_iter()
        .collect()
}

pub(super) fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// Synchronizes the folders of `paths`, which are below `root`, up to `root`.
pub(super) fn sync_parents(root: &Path, paths: &[PathBuf]) -> Result<(), ReplacementError> {
    let above = paths.iter().flat_map(|path| path.ancestors().skip(1));
    let mut folders: Vec<&Path> = above.filter(|folder| folder.starts_with(root)).collect();
    folders.sort();
    folders.dedup();
    let sync = |folder: &&Path| match fingerprint::find(folder)? {
        Some(_) => sync_folder(folder),
        None => Ok(()),
    };
    let sync = |folder: &&Path| sync(folder).map_err(|error| ReplacementError::io(folder, error));
    parallel::map_on(WRITERS, &folders, sync)
        .into_iter()
        .collect()
}

/// Synchronizes the entries of a folder. File systems without this operation are accepted.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|opened| sync(&opened, folder)) {
        Err(error) if [InvalidInput, PermissionDenied, Unsupported].contains(&error.kind()) => {
            Ok(())
        }
        result => result,
    }
}

fn sync(file: &File, path: &Path) -> io::Result<()> {
    #[cfg(test)]
    log::add(path);
    let _ = path;
    file.sync_all()
}

/// The paths that tests have synchronized.
#[cfg(test)]
pub(super) mod log {
    use std::path::{Path, PathBuf};
    use std::sync::Mutex;

    static SYNCED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

    pub fn add(path: &Path) {
        SYNCED.lock().unwrap().push(path.to_owned());
    }

    /// Returns the paths below `root`.
    pub fn below(root: &Path) -> Vec<PathBuf> {
        let synced = SYNCED.lock().unwrap();
        let below = synced.iter().filter(|path| path.starts_with(root));
        below.cloned().collect()
    }
}
