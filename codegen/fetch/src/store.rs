//! The store of headers, `<release>/include/...`, with one folder for each exact version.
//!
//! A release is staged and renamed, so that it is complete or absent. A folder with a file that sp-gen did not write is
//! not replaced.

use super::error::FetchError;
use super::lock::{Lock, LockedRelease, header_hashes};
use sp_data::release::Release;
use sp_parse::api_headers::Headers;
use sp_parse::source::{MAX_HEADER_BYTES, is_safe_relative_path};
use sp_system::input;
use sp_system::replacement::{
    self, Change, Contents, Fingerprint, LISTING, Replacement, TableFile, existing_folder,
};
use sp_system::temporary::{delay_signals, removed_on_signal};
use std::collections::BTreeMap;
use std::fs;
use std::io;
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

    /// Writes a release and, if given, the lock that has it. Replaces a stored release only if sp-gen wrote all of its
    /// files.
    ///
    /// # Errors
    /// Returns an error if the folder of the release has other files, or if release or lock cannot be written. Both are
    /// unchanged then.
    pub fn write(
        &self,
        release: Release,
        headers: &Headers,
        lock: Option<(&Lock, &TableFile)>,
    ) -> Result<(), FetchError> {
        replacement::recover(&self.folder)?;
        let (root, below) = existing_folder(&self.folder)?;
        let change = Change {
            path: Path::new(&below)
                .join(release.to_string())
                .display()
                .to_string(),
            ..self.change(release, headers)?
        };
        let replaced = Replacement::apply(&root, &[change])?;
        let written = lock.map_or(Ok(()), |(lock, file)| {
            file.replace(lock.to_toml())?.commit()
        });
        if let Err(error) = written {
            // The store must not have a release that the lock does not have.
            replaced.undo(&error.to_string())?;
            return Err(error.into());
        }
        Ok(replaced.commit()?)
    }

    /// Returns the change from the stored files of a release to `headers` and their listing.
    fn change(&self, release: Release, headers: &Headers) -> Result<Change, FetchError> {
        let target = self.folder.join(release.to_string());
        let unreadable = |error| unwritable(&target, &error);
        let files = release_files(headers).map_err(unreadable)?;
        let new = Fingerprint::from_files(files.iter().map(|(path, bytes)| (&**path, &**bytes)));
        let old = Fingerprint::read(&target).map_err(unreadable)?;
        let foreign = old
            .as_ref()
            .and_then(|old| foreign_file(&target, old, &new));
        match foreign {
            Some(path) => Err(FetchError::StoreOccupied {
                path: path.display().to_string(),
                release,
            }),
            None => Ok(Change {
                path: String::new(),
                old,
                new: Some(Contents::Folder(files)),
            }),
        }
    }
}

/// Returns the files of a stored release: the headers below `include/`, and the listing.
fn release_files(headers: &Headers) -> io::Result<BTreeMap<String, Vec<u8>>> {
    check_names(headers)?;
    let stored = |(name, bytes): (&String, &Vec<u8>)| (format!("include/{name}"), bytes.clone());
    let mut files: BTreeMap<String, Vec<u8>> = headers.iter().map(stored).collect();
    let listing = Fingerprint::from_files(files.iter().map(|(path, bytes)| (&**path, &**bytes)));
    files.insert(LISTING.to_owned(), listing.to_json().into_bytes());
    Ok(files)
}

/// Returns a file of `target`, whose files are `old`, that is not in its listing. A file that equals one of `new` is
/// sp-gen's: earlier versions wrote no listing.
fn foreign_file(target: &Path, old: &Fingerprint, new: &Fingerprint) -> Option<PathBuf> {
    let listing = Fingerprint::read_listing(target);
    let has_listing = listing.is_some();
    let listing = listing.unwrap_or_default();
    let is_own = |(path, hash): &(&String, &String)| {
        let written = [listing.0.get(*path), new.0.get(*path)];
        written.contains(&Some(*hash)) || (has_listing && *path == LISTING)
    };
    let (path, _) = old.0.iter().find(|file| !is_own(file))?;
    Some(match path.is_empty() {
        true => target.to_owned(),
        false => target.join(path),
    })
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
    check_names(headers)?;
    for (name, bytes) in headers {
        let path = folder.join(name);
        let written = fs::create_dir_all(path.parent().unwrap_or(folder));
        let written = written.and_then(|()| fs::write(path, bytes));
        // The name is the source's, and may be none that the file system accepts.
        written.map_err(|error| io::Error::other(format!("{}: {error}", name.escape_debug())))?;
    }
    Ok(())
}

/// Checks that no header's path is outside of the folder that it is written to.
fn check_names(headers: &Headers) -> io::Result<()> {
    match headers.keys().find(|name| !is_safe_relative_path(name)) {
        Some(name) => Err(io::Error::other(format!(
            "`{name}` is a path outside of the store"
        ))),
        None => Ok(()),
    }
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
    use sp_tests::read_files;

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
        let expected = Some(headers("two"));
        assert_eq!(store.read(release(), &locked(&headers("two"))), expected);
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
        assert!(file_names(scratch.path()).is_empty());
    }

    #[test]
    fn error_of_unpacking_names_the_header() {
        let mut conflicting = headers("one");
        conflicting.insert("tensorflow/c/ops.h/inner.h".into(), Vec::new());
        let error = unpack(&conflicting).unwrap_err().to_string();
        assert!(error.starts_with("tensorflow/c/ops.h/inner.h: "), "{error}");
    }

    #[test]
    fn failed_write_preserves_stored_release() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::new(scratch.path().to_owned());
        store.write(release(), &headers("one"), None).unwrap();
        let mut conflicting = headers("two");
        conflicting.insert("tensorflow/c/ops.h/inner.h".into(), Vec::new());
        assert!(store.write(release(), &conflicting, None).is_err());
        let expected = Some(headers("one"));
        assert_eq!(store.read(release(), &locked(&headers("one"))), expected);
        assert_eq!(file_names(scratch.path()), ["2.21.0"]);
    }

    /// Reads the lock file beside the store, and saves it as another program does.
    fn lock_that_is_saved_meanwhile(folder: &Path) -> TableFile {
        let path = folder.join("sources.toml");
        let file = TableFile::read(folder, &path).unwrap();
        fs::write(path, "saved").unwrap();
        file
    }

    #[test]
    fn removes_release_if_lock_cannot_be_written() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::new(scratch.path().join("store"));
        let file = lock_that_is_saved_meanwhile(scratch.path());
        let lock = Some((&Lock::default(), &file));
        assert!(store.write(release(), &headers("one"), lock).is_err());
        assert_eq!(file_names(scratch.path()), ["sources.toml"]);
    }

    #[test]
    fn stored_release_stays_if_lock_cannot_be_written() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::new(scratch.path().join("store"));
        store.write(release(), &headers("one"), None).unwrap();
        let file = lock_that_is_saved_meanwhile(scratch.path());
        let before = read_files(scratch.path());
        let lock = Some((&Lock::default(), &file));
        let error = store.write(release(), &headers("two"), lock).unwrap_err();
        let expected = "sources.toml was changed by another program";
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(read_files(scratch.path()), before);
    }

    #[test]
    fn rejects_folder_with_files_of_the_user() {
        for file in ["2.21.0/notes.txt", "2.21.0/include/own.h", "2.21.0"] {
            let scratch = tempfile::tempdir().unwrap();
            let path = scratch.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "own").unwrap();
            let store = Store::new(scratch.path().to_owned());
            let error = store.write(release(), &headers("one"), None).unwrap_err();
            assert!(error.to_string().contains(file), "{error}");
            let expected = [(file.into(), b"own".into())].into();
            assert_eq!(read_files(scratch.path()), expected);
        }
    }

    #[test]
    fn rejects_stored_release_with_edited_or_added_file() {
        for file in ["tensorflow/c/ops.h", "tensorflow/c/own.h"] {
            let scratch = tempfile::tempdir().unwrap();
            let store = Store::new(scratch.path().to_owned());
            store.write(release(), &headers("one"), None).unwrap();
            fs::write(store.include_root(release()).join(file), "edited").unwrap();
            let before = read_files(scratch.path());
            let error = store.write(release(), &headers("two"), None).unwrap_err();
            assert!(error.to_string().contains(file), "{error}");
            assert_eq!(read_files(scratch.path()), before);
        }
    }

    #[test]
    fn completes_release_of_sp_gen_without_listing() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::new(scratch.path().to_owned());
        store.write(release(), &headers("one"), None).unwrap();
        let folder = scratch.path().join("2.21.0");
        fs::remove_file(folder.join(LISTING)).unwrap();
        fs::remove_file(folder.join("include/tsl/platform/platform.h")).unwrap();
        store.write(release(), &headers("one"), None).unwrap();
        let stored = store.read(release(), &locked(&headers("one")));
        assert_eq!(stored, Some(headers("one")));
    }
}
