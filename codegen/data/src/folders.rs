//! Where things are kept: in the checkout that the command runs in, else in the user's cache.

use super::release::Release;
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Stands for a cache that does not exist and that no user can create.
const NO_CACHE: &str = "/nonexistent/sp-gen";

/// There is no folder for imported headers.
#[derive(Debug, Error, Diagnostic)]
#[error("no folder to keep headers in: neither HOME nor XDG_CACHE_HOME is set")]
#[diagnostic(code(sp_gen::import::store_homeless), help("say where: `--store DIR`"))]
pub struct NoCache;

/// The folders and files of one home of headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFolders {
    /// Releases' headers.
    pub store: PathBuf,
    /// The lock, `sources.toml`.
    pub lock: PathBuf,
    /// Snapshots, `<api>/<minor>.json`.
    pub snapshots: PathBuf,
    /// Exported symbols, `<package>/<platform>.json`.
    pub symbols: PathBuf,
    /// Whether the lock adds to the one in the binary; in a checkout it stands alone.
    pub inherits: bool,
}

impl DataFolders {
    /// Returns the place for a command that runs in `folder` and writes.
    ///
    /// # Errors
    /// Returns an error outside of a checkout if there is no cache.
    pub fn find(folder: &Path) -> Result<Self, NoCache> {
        match checkout(folder) {
            Some(root) => Ok(Self::in_checkout(&root)),
            None => Ok(Self::in_cache(&cache().ok_or(NoCache)?)),
        }
    }

    /// Returns the place for a command that only reads where there is no cache: what the binary contains is all
    /// there is.
    pub fn without_cache() -> Self {
        Self::in_cache(Path::new(NO_CACHE))
    }

    /// Returns where `release` is kept: nightly builds in the user's cache wherever the command runs,
    /// so that no checkout and no table has one.
    ///
    /// # Errors
    /// Returns an error if a nightly build is asked for and there is no cache.
    pub fn for_release(self, release: Release) -> Result<Self, NoCache> {
        match release.is_nightly() {
            true => Self::nightlies().ok_or(NoCache),
            false => Ok(self),
        }
    }

    /// Returns the place of nightly builds in the user's cache, or `None` if there is no cache.
    pub fn nightlies() -> Option<Self> {
        let nightlies = Self::in_cache(&cache()?.join("nightly"));
        Some(Self {
            inherits: false,
            ..nightlies
        })
    }

    fn in_checkout(root: &Path) -> Self {
        Self {
            store: root.join("headers/store"),
            lock: root.join("headers/sources.toml"),
            snapshots: root.join("generated/ir"),
            symbols: root.join("generated/symbols"),
            inherits: false,
        }
    }

    fn in_cache(cache: &Path) -> Self {
        Self {
            store: cache.join("store"),
            lock: cache.join("sources.toml"),
            snapshots: cache.join("ir"),
            symbols: cache.join("symbols"),
            inherits: true,
        }
    }
}

/// The root of the sp-gen checkout that has `folder`.
pub fn checkout(folder: &Path) -> Option<PathBuf> {
    let is_root = |place: &&Path| {
        place.join("headers/apis").is_dir() && place.join("codegen/cli/Cargo.toml").is_file()
    };
    folder.ancestors().find(is_root).map(Path::to_owned)
}

/// Returns `$XDG_CACHE_HOME/sp-gen`, or `~/.cache/sp-gen`; without HOME, `~` is the folder that the system has for
/// the user. A home that does not exist, as containers and services have, is no home.
fn cache() -> Option<PathBuf> {
    let stated = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = stated.filter(|path| path.is_absolute());
    cache
        .or_else(|| home().map(|home| home.join(".cache")))
        .map(|cache| cache.join("sp-gen"))
}

fn home() -> Option<PathBuf> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty())?;
    let is_stated = std::env::var_os("HOME").is_some_and(|value| !value.is_empty());
    (is_stated || home.is_dir()).then_some(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checkout_is_found_from_below() {
        let below = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let place = DataFolders::find(&below).unwrap();
        assert!(place.lock.is_file(), "{place:?}");
    }

    #[test]
    fn another_project_is_no_checkout() {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(scratch.path().join("headers/apis")).unwrap();
        assert_eq!(checkout(scratch.path()), None);
    }
}
