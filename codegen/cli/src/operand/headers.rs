//! The headers that a report quotes from. A stored header of a release is quoted only if it has the locked sha256, because
//! the locations in a snapshot are those of the locked header.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::console::warning;
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_fetch::lock::{Lock, LockedRelease};
use sp_fetch::store::Store;
use sp_parse::source::{MAX_HEADER_BYTES, is_safe_relative_path};
use sp_system::input;

/// Headers by their path below the include root. The default has no headers.
#[derive(Debug, Default)]
pub struct QuotedHeaders {
    root: Option<PathBuf>,
    locked: Option<LockedHeaders>,
    /// Removes the unpacked headers on drop.
    _unpacked: Option<TempDir>,
}

/// A release whose headers have a sha256 in the lock.
#[derive(Debug)]
struct LockedHeaders {
    release: Release,
    folders: DataFolders,
    entry: OnceCell<Option<LockedRelease>>,
}

impl QuotedHeaders {
    /// Returns the stored headers of a release.
    pub fn locked(folders: &DataFolders, release: Release) -> Self {
        let store = Store::new(folders.store.clone());
        let exact = store.resolve(release);
        Self {
            root: exact.map(|exact| store.include_root(exact)),
            locked: exact.map(|release| LockedHeaders {
                release,
                folders: folders.clone(),
                entry: OnceCell::new(),
            }),
            _unpacked: None,
        }
    }

    /// Returns the headers below an include root.
    pub fn in_folder(root: PathBuf) -> Self {
        Self {
            root: Some(root),
            ..Self::default()
        }
    }

    /// Returns the headers in a temporary folder, which is removed on drop.
    pub fn unpacked(folder: TempDir) -> Self {
        Self {
            root: Some(folder.path().to_owned()),
            locked: None,
            _unpacked: Some(folder),
        }
    }

    /// Returns the include root.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Returns the text of a header, or `None` if it is absent or not the locked one.
    pub fn text(&self, name: &str) -> Option<String> {
        // The name of a snapshot may lead out of the root.
        let root = self.root.as_ref().filter(|_| is_safe_relative_path(name))?;
        let bytes = input::read(&root.join(name), MAX_HEADER_BYTES).ok()?;
        let is_usable = self
            .locked
            .as_ref()
            .is_none_or(|locked| locked.matches(name, &bytes));
        is_usable.then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl LockedHeaders {
    /// Returns true if the bytes have the sha256 of the locked header.
    fn matches(&self, name: &str, bytes: &[u8]) -> bool {
        let entry = self.entry.get_or_init(|| {
            let DataFolders {
                lock,
                extends_embedded,
                ..
            } = &self.folders;
            let entry = Lock::read_release(lock, *extends_embedded, self.release);
            entry.unwrap_or_else(|error| {
                warning!("headers of {} are not quoted: {error}", self.release);
                None
            })
        });
        let expected = entry.as_ref().and_then(|entry| entry.headers.get(name));
        let sha256: String = Sha256::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        expected == Some(&sha256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn quotes_only_locked_headers() {
        let scratch = tempfile::tempdir().unwrap();
        let folders = DataFolders {
            store: scratch.path().join("store"),
            lock: scratch.path().join("sources.toml"),
            snapshots: scratch.path().join("ir"),
            symbols: scratch.path().join("symbols"),
            ops: scratch.path().join("ops.txt"),
            extends_embedded: false,
        };
        let include = folders.store.join("2.3.1/include");
        fs::create_dir_all(&include).unwrap();
        fs::write(include.join("a.h"), "").unwrap();
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let lock = format!(
            "[release.\"2.3.1\"]\npackage = \"p\"\nversion = \"2.3.1\"\n[release.\"2.3.1\".headers]\n\"a.h\" = \"{empty}\"\n"
        );
        fs::write(&folders.lock, lock).unwrap();
        let release = "2.3".parse().unwrap();
        assert_eq!(
            QuotedHeaders::locked(&folders, release)
                .text("a.h")
                .as_deref(),
            Some("")
        );
        fs::write(include.join("a.h"), "changed").unwrap();
        assert_eq!(QuotedHeaders::locked(&folders, release).text("a.h"), None);
        assert_eq!(
            QuotedHeaders::in_folder(include).text("a.h").as_deref(),
            Some("changed")
        );
    }
}
