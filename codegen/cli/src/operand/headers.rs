//! The headers that a report can quote from. A release's stored header is quoted only where it is the
//! locked one, so that no line is shown that the snapshot was not read from.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::console::warning;
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_fetch::lock::{Lock, LockedRelease};
use sp_fetch::store::Store;

/// Headers by their name below the include root; none by default.
#[derive(Debug, Default)]
pub struct Headers {
    root: Option<PathBuf>,
    promise: Option<Promise>,
    /// Keeps unpacked headers from being removed.
    _unpacked: Option<TempDir>,
}

/// Where it is written which headers a release has.
#[derive(Debug)]
struct Promise {
    release: Release,
    place: DataFolders,
    locked: OnceCell<Option<LockedRelease>>,
}

impl Headers {
    /// The stored headers of a release.
    pub fn locked(place: &DataFolders, release: Release) -> Self {
        let store = Store::new(place.store.clone());
        let exact = store.resolve(release);
        Self {
            root: exact.map(|exact| store.include_root(exact)),
            promise: exact.map(|release| Promise {
                release,
                place: place.clone(),
                locked: OnceCell::new(),
            }),
            _unpacked: None,
        }
    }

    /// Headers that were parsed themselves.
    pub fn at(root: PathBuf) -> Self {
        Self {
            root: Some(root),
            ..Self::default()
        }
    }

    /// Headers that go when this goes.
    pub fn unpacked(folder: TempDir) -> Self {
        Self {
            root: Some(folder.path().to_owned()),
            promise: None,
            _unpacked: Some(folder),
        }
    }

    /// Where they lie.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The text of a header.
    pub fn text(&self, name: &str) -> Option<String> {
        let bytes = fs::read(self.root.as_ref()?.join(name)).ok()?;
        let kept = self
            .promise
            .as_ref()
            .is_none_or(|promise| promise.holds(name, &bytes));
        kept.then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Promise {
    fn holds(&self, name: &str, bytes: &[u8]) -> bool {
        let locked = self.locked.get_or_init(|| {
            let DataFolders {
                lock,
                extends_embedded,
                ..
            } = &self.place;
            let found = Lock::read_release(lock, *extends_embedded, self.release);
            found.unwrap_or_else(|problem| {
                warning!("headers of {} are not quoted: {problem}", self.release);
                None
            })
        });
        let wanted = locked.as_ref().and_then(|locked| locked.headers.get(name));
        let found: String = Sha256::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        wanted == Some(&found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_locked_header_is_quoted() {
        let scratch = tempfile::tempdir().unwrap();
        let place = DataFolders {
            store: scratch.path().join("store"),
            lock: scratch.path().join("sources.toml"),
            snapshots: scratch.path().join("ir"),
            symbols: scratch.path().join("symbols"),
            extends_embedded: false,
        };
        let include = place.store.join("2.3.1/include");
        fs::create_dir_all(&include).unwrap();
        fs::write(include.join("a.h"), "").unwrap();
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let lock = format!(
            "[release.\"2.3.1\"]\npackage = \"p\"\nversion = \"2.3.1\"\n[release.\"2.3.1\".headers]\n\"a.h\" = \"{empty}\"\n"
        );
        fs::write(&place.lock, lock).unwrap();
        let release = "2.3".parse().unwrap();
        assert_eq!(
            Headers::locked(&place, release).text("a.h").as_deref(),
            Some("")
        );
        fs::write(include.join("a.h"), "changed").unwrap();
        assert_eq!(Headers::locked(&place, release).text("a.h"), None);
        assert_eq!(Headers::at(include).text("a.h").as_deref(), Some("changed"));
    }
}
