//! The headers that a report quotes from. A stored header of a release is quoted only if it has the locked sha256, because
//! the locations in a snapshot are those of the locked header.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sp_system::hash::sha256;
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
    /// The headers that were read. A report may quote each line of a header.
    texts: RefCell<BTreeMap<String, Option<Arc<HeaderText>>>>,
    /// Removes the unpacked headers on drop.
    _unpacked: Option<TempDir>,
}

/// The text of a header, and where its lines begin.
#[derive(Debug)]
pub struct HeaderText {
    text: String,
    starts: Vec<u32>,
}

impl HeaderText {
    fn new(text: String) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
        let starts = std::iter::once(0).chain(starts).collect();
        Self { text, starts }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns a line, with the characters that end it. The first line has the index 0.
    pub fn line(&self, index: usize) -> Option<&str> {
        let start = *self.starts.get(index)? as usize;
        let end = self.starts.get(index + 1);
        let line = &self.text[start..end.map_or(self.text.len(), |end| *end as usize)];
        (!line.is_empty()).then_some(line)
    }
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
            ..Self::default()
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
            _unpacked: Some(folder),
            ..Self::default()
        }
    }

    /// Returns the include root.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Returns the text of a header, or `None` if it is absent or not the locked one. Reads each header once.
    pub fn text(&self, name: &str) -> Option<Arc<HeaderText>> {
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry(name.to_owned());
        text.or_insert_with(|| self.read(name)).clone()
    }

    fn read(&self, name: &str) -> Option<Arc<HeaderText>> {
        // The name of a snapshot may lead out of the root.
        let root = self.root.as_ref().filter(|_| is_safe_relative_path(name))?;
        let bytes = input::read(&root.join(name), MAX_HEADER_BYTES).ok()?;
        let locked = self.locked.as_ref();
        let is_usable = locked.is_none_or(|locked| locked.matches(name, &bytes));
        let text = || HeaderText::new(String::from_utf8_lossy(&bytes).into_owned());
        is_usable.then(|| Arc::new(text()))
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
        expected == Some(&sha256(bytes))
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
        let text = |headers: &QuotedHeaders| Some(headers.text("a.h")?.as_str().to_owned());
        let locked = || text(&QuotedHeaders::locked(&folders, release));
        assert_eq!(locked().as_deref(), Some(""));
        fs::write(include.join("a.h"), "changed").unwrap();
        assert_eq!(locked(), None);
        let headers = QuotedHeaders::in_folder(include);
        assert_eq!(text(&headers).as_deref(), Some("changed"));
    }
}
