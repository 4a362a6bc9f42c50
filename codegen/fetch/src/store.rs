//! The store of headers, `<release>/include/...`, with one folder for each exact version.
//!
//! A release is written to a temporary folder in the store and renamed, so that it is complete or absent.

use super::error::FetchError;
use super::lock::{Lock, LockedRelease, header_hashes};
use sp_data::release::Release;
use sp_parse::api_headers::Headers;
use sp_parse::source::{MAX_HEADER_BYTES, is_safe_relative_path};
use sp_system::input;
use sp_system::temporary::{delay_signals, removed_on_signal};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder that has the headers of releases.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Creates the store in `folder`, which need not exist.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the include root of a release, which need not exist.
    pub fn include_root(&self, release: Release) -> PathBuf {
        self.folder.join(release.to_string()).join("include")
    }

    /// Returns the newest stored version of `release`.
    pub fn resolve(&self, release: Release) -> Option<Release> {
        let entries = fs::read_dir(&self.folder).ok()?.flatten();
        let stored = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        release.newest_match(stored)
    }

    /// Returns the stored headers of a release, or `None` if they differ from the locked ones.
    pub fn read(&self, release: Release, locked: &LockedRelease) -> Option<Headers> {
        let include = self.include_root(release);
        let read = |name: &String| {
            Some((
                name.clone(),
                input::read(&include.join(name), MAX_HEADER_BYTES).ok()?,
            ))
        };
        let headers: Headers = locked.headers.keys().map(read).collect::<Option<_>>()?;
        (locked.headers == header_hashes(&headers)).then_some(headers)
    }

    /// Writes a release and, if given, the lock that has it.
    ///
    /// # Errors
    /// Returns an error if either cannot be written. Both are unchanged then.
    pub fn write(
        &self,
        release: Release,
        headers: &Headers,
        lock: Option<(&Lock, &Path)>,
    ) -> Result<(), FetchError> {
        let _delay = delay_signals();
        let lock = lock
            .map(|(lock, path)| stage_lock(lock, path))
            .transpose()?;
        let staged = self
            .stage_release(headers)
            .map_err(|error| unwritable(&self.folder, &error))?;
        let target = self.folder.join(release.to_string());
        replace_folder(staged.path(), &target).map_err(|error| unwritable(&target, &error))?;
        let Some((file, path)) = lock else {
            return Ok(());
        };
        file.persist(path).map(drop).map_err(|error| {
            // The store must not have a release that the lock does not have. The first error is the one to report.
            let _ = fs::remove_dir_all(&target);
            unwritable(path, &error.error)
        })
    }

    /// Writes a release to a temporary folder, which is removed unless it is renamed.
    fn stage_release(&self, headers: &Headers) -> io::Result<tempfile::TempDir> {
        fs::create_dir_all(&self.folder)?;
        let staged = tempfile::Builder::new()
            .prefix(".importing-")
            .tempdir_in(&self.folder)?;
        write_headers(&staged.path().join("release/include"), headers)?;
        Ok(staged)
    }
}

/// Writes headers to a temporary folder, to be parsed.
///
/// # Errors
/// Returns an error if a file cannot be written, or if a header's path is outside of the folder.
pub fn unpack(headers: &Headers) -> io::Result<tempfile::TempDir> {
    let _delay = delay_signals();
    let folder = removed_on_signal(|| tempfile::Builder::new().prefix("sp-gen-").tempdir())?;
    write_headers(folder.path(), headers)?;
    Ok(folder)
}

fn write_headers(folder: &Path, headers: &Headers) -> io::Result<()> {
    for (name, bytes) in headers {
        if !is_safe_relative_path(name) {
            return Err(io::Error::other(format!(
                "`{name}` is a path outside of the store"
            )));
        }
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// Renames `staged/release` to `target`. A folder that `target` had is moved into `staged`, which the caller removes.
fn replace_folder(staged: &Path, target: &Path) -> io::Result<()> {
    let previous = staged.join("previous");
    let is_replaced = target.exists();
    if is_replaced {
        fs::rename(target, &previous)?;
    }
    fs::rename(staged.join("release"), target).inspect_err(|_| {
        if is_replaced {
            // The first error is the one to report.
            let _ = fs::rename(&previous, target);
        }
    })
}

fn stage_lock<'a>(
    lock: &Lock,
    path: &'a Path,
) -> Result<(tempfile::NamedTempFile, &'a Path), FetchError> {
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = sp_system::temporary::staged_file(folder)?;
        file.write_all(lock.to_toml().as_bytes())?;
        Ok(file)
    };
    write()
        .map(|file| (file, path))
        .map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> FetchError {
    FetchError::StoreUnwritable {
        path: path.display().to_string(),
        detail: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release() -> Release {
        "2.21.0".parse().unwrap()
    }

    fn headers(text: &str) -> Headers {
        Headers::from([
            ("tensorflow/c/ops.h".to_owned(), text.as_bytes().to_vec()),
            ("tsl/platform/platform.h".to_owned(), Vec::new()),
        ])
    }

    fn locked(headers: &Headers) -> LockedRelease {
        LockedRelease {
            package: "tensorflow-cpu".into(),
            version: "2.21.0".into(),
            python: None,
            platform: None,
            headers: header_hashes(headers),
            left_out: Default::default(),
        }
    }

    fn file_names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn writes_and_replaces_whole_release() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::new(scratch.path().join("store"));
        store.write(release(), &headers("one"), None).unwrap();
        store.write(release(), &headers("two"), None).unwrap();
        assert!(store.read(release(), &locked(&headers("one"))).is_none());
        assert_eq!(
            store.read(release(), &locked(&headers("two"))),
            Some(headers("two"))
        );
        assert_eq!(file_names(&scratch.path().join("store")), ["2.21.0"]);
        assert_eq!(store.resolve("2.21".parse().unwrap()), Some(release()));
    }

    #[test]
    fn failed_write_leaves_no_files() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::new(scratch.path().join("store"));
        let mut malicious = headers("one");
        malicious.insert("zz/../../../x.h".into(), Vec::new());
        assert!(store.write(release(), &malicious, None).is_err());
        assert!(file_names(&scratch.path().join("store")).is_empty());
        assert_eq!(file_names(scratch.path()), ["store"]);
    }

    #[test]
    fn failed_write_preserves_stored_release() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::new(scratch.path().to_owned());
        store.write(release(), &headers("one"), None).unwrap();
        let mut conflicting = headers("two");
        conflicting.insert("tensorflow/c/ops.h/inner.h".into(), Vec::new());
        assert!(store.write(release(), &conflicting, None).is_err());
        assert_eq!(
            store.read(release(), &locked(&headers("one"))),
            Some(headers("one"))
        );
        assert_eq!(file_names(scratch.path()), ["2.21.0"]);
    }

    #[test]
    fn removes_release_if_lock_cannot_be_written() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::new(scratch.path().join("store"));
        let path = scratch.path().join("sources.toml");
        fs::create_dir_all(path.join("occupied")).unwrap();
        assert!(
            store
                .write(release(), &headers("one"), Some((&Lock::default(), &path)))
                .is_err()
        );
        assert!(file_names(&scratch.path().join("store")).is_empty());
    }
}
