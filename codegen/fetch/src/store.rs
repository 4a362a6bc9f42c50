//! The store of headers: `<release>/include/...`, one folder per exact patch.
//!
//! A release appears whole or not at all: it is written beside its place and renamed into it.

use super::error::FetchError;
use super::lock::{Lock, Locked, hashes};
use sp_data::release::Release;
use sp_parse::api_headers::Headers;
use sp_parse::source::is_safe_relative_path;
use sp_system::temporary::{delay_signals, removed_on_signal};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder of releases.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in `folder`, which need not exist yet.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where a release's headers lie, or would.
    pub fn include(&self, release: Release) -> PathBuf {
        self.folder.join(release.to_string()).join("include")
    }

    /// The newest stored patch that a name asks for.
    pub fn resolve(&self, release: Release) -> Option<Release> {
        let entries = fs::read_dir(&self.folder).ok()?.flatten();
        let stored = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        release.newest_match(stored)
    }

    /// The stored headers of a release, where they are exactly the locked ones.
    pub fn read(&self, release: Release, locked: &Locked) -> Option<Headers> {
        let include = self.include(release);
        let read = |name: &String| Some((name.clone(), fs::read(include.join(name)).ok()?));
        let headers: Headers = locked.headers.keys().map(read).collect::<Option<_>>()?;
        (locked.headers == hashes(&headers)).then_some(headers)
    }

    /// Writes a release and the lock that has it; on failure both are as they were.
    pub fn put(
        &self,
        release: Release,
        headers: &Headers,
        lock: Option<(&Lock, &Path)>,
    ) -> Result<(), FetchError> {
        let _delay = delay_signals();
        let lock = lock
            .map(|(lock, path)| staged_lock(lock, path))
            .transpose()?;
        let staged = self
            .stage(headers)
            .map_err(|error| unwritable(&self.folder, &error))?;
        let place = self.folder.join(release.to_string());
        swap_in(staged.path(), &place).map_err(|error| unwritable(&place, &error))?;
        let Some((file, path)) = lock else {
            return Ok(());
        };
        file.persist(path).map(drop).map_err(|error| {
            // A release that the lock does not have must not stay; that removing it fails too is not worth a second message.
            let _ = fs::remove_dir_all(&place);
            unwritable(path, &error.error)
        })
    }

    /// A complete release in a folder that removes itself unless renamed.
    fn stage(&self, headers: &Headers) -> io::Result<tempfile::TempDir> {
        fs::create_dir_all(&self.folder)?;
        let staged = tempfile::Builder::new()
            .prefix(".importing-")
            .tempdir_in(&self.folder)?;
        write_below(&staged.path().join("release/include"), headers)?;
        Ok(staged)
    }
}

/// Writes headers into a temporary folder, to be parsed.
///
/// # Errors
/// Returns an error if a file cannot be written, or if a name leads out of the folder.
pub fn unpack(headers: &Headers) -> io::Result<tempfile::TempDir> {
    let _delay = delay_signals();
    let folder = removed_on_signal(|| tempfile::Builder::new().prefix("sp-gen-").tempdir())?;
    write_below(folder.path(), headers)?;
    Ok(folder)
}

fn write_below(folder: &Path, headers: &Headers) -> io::Result<()> {
    for (name, bytes) in headers {
        if !is_safe_relative_path(name) {
            return Err(io::Error::other(format!("`{name}` leads out of the store")));
        }
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// Renames `staged/release` to `place`; what was there moves into `staged`, which is removed.
fn swap_in(staged: &Path, place: &Path) -> io::Result<()> {
    let aside = staged.join("previous");
    let replaced = place.exists();
    if replaced {
        fs::rename(place, &aside)?;
    }
    fs::rename(staged.join("release"), place).inspect_err(|_| {
        if replaced {
            // Best effort: the first error is the one to tell.
            let _ = fs::rename(&aside, place);
        }
    })
}

fn staged_lock<'a>(
    lock: &Lock,
    path: &'a Path,
) -> Result<(tempfile::NamedTempFile, &'a Path), FetchError> {
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = sp_system::temporary::staged_file(folder)?;
        file.write_all(lock.text().as_bytes())?;
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

    fn locked(headers: &Headers) -> Locked {
        Locked {
            package: "tensorflow-cpu".into(),
            version: "2.21.0".into(),
            python: None,
            platform: None,
            headers: hashes(headers),
            left_out: Default::default(),
        }
    }

    fn entries(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_release_is_stored_and_replaced_whole() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::at(scratch.path().join("store"));
        store.put(release(), &headers("one"), None).unwrap();
        store.put(release(), &headers("two"), None).unwrap();
        assert!(store.read(release(), &locked(&headers("one"))).is_none());
        assert_eq!(
            store.read(release(), &locked(&headers("two"))),
            Some(headers("two"))
        );
        assert_eq!(entries(&scratch.path().join("store")), ["2.21.0"]);
        assert_eq!(store.resolve("2.21".parse().unwrap()), Some(release()));
    }

    #[test]
    fn a_failure_half_way_leaves_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::at(scratch.path().join("store"));
        let mut crafted = headers("one");
        crafted.insert("zz/../../../x.h".into(), Vec::new());
        assert!(store.put(release(), &crafted, None).is_err());
        assert!(entries(&scratch.path().join("store")).is_empty());
        assert_eq!(entries(scratch.path()), ["store"]);
    }

    #[test]
    fn a_file_where_a_folder_must_be_fails_and_keeps_the_old_release() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::at(scratch.path().to_owned());
        store.put(release(), &headers("one"), None).unwrap();
        let mut clash = headers("two");
        clash.insert("tensorflow/c/ops.h/inner.h".into(), Vec::new());
        assert!(store.put(release(), &clash, None).is_err());
        assert_eq!(
            store.read(release(), &locked(&headers("one"))),
            Some(headers("one"))
        );
        assert_eq!(entries(scratch.path()), ["2.21.0"]);
    }

    #[test]
    fn a_lock_that_cannot_be_written_takes_the_release_with_it() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::at(scratch.path().join("store"));
        let path = scratch.path().join("sources.toml");
        fs::create_dir_all(path.join("in the way")).unwrap();
        assert!(
            store
                .put(release(), &headers("one"), Some((&Lock::default(), &path)))
                .is_err()
        );
        assert!(entries(&scratch.path().join("store")).is_empty());
    }
}
