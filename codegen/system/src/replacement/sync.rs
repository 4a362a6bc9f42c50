//! Writes that are on the disk when the function returns: after a loss of power, a renamed file has its contents.

use super::ReplacementError;
use super::fingerprint;
use crate::parallel;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Number of threads that write files. They wait for the disk, which synchronizes several files at once.
const WRITERS: usize = 16;

/// Returns true for the name of a temporary file or folder: the prefix, and six letters and digits.
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
