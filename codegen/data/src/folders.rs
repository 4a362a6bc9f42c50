//! The folders of headers, snapshots and symbols: in the checkout that a command runs in, else in the user's cache.

use super::release::Release;
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Path of a cache that does not exist and that no user can create.
const NO_CACHE: &str = "/nonexistent/sp-gen";

/// The user has no cache folder.
#[derive(Debug, Error, Diagnostic)]
#[error("no folder for imported headers: neither HOME nor XDG_CACHE_HOME is set")]
#[diagnostic(
    code(sp_gen::import::no_cache),
    help("set one of them, or name a folder: `--store DIR`")
)]
pub struct NoCache;

/// The folders and files that hold the data of releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFolders {
    /// Headers by release.
    pub store: PathBuf,
    /// The lock, `sources.toml`.
    pub lock: PathBuf,
    /// Snapshots, `<api>/<minor>.json`.
    pub snapshots: PathBuf,
    /// Exported symbols, `<package>/<platform>.json`.
    pub symbols: PathBuf,
    /// The table of op definitions, `ops/ops.txt`.
    pub ops: PathBuf,
    /// True if these files extend the data embedded in the binary, as those of the cache do. A checkout's files are
    /// complete.
    pub extends_embedded: bool,
}

impl DataFolders {
    /// Returns the folders for a command that runs in `folder` and writes: the checkout's, else the cache's.
    ///
    /// # Errors
    /// Returns an error if `folder` is not in a checkout and the user has no cache.
    pub fn find(folder: &Path) -> Result<Self, NoCache> {
        match find_checkout(folder) {
            Some(root) => Ok(Self::in_checkout(&root)),
            None => Ok(Self::in_cache(&cache_folder().ok_or(NoCache)?)),
        }
    }

    /// Returns the folders for a command that only reads if the user has no cache: they contain nothing beyond the
    /// embedded data.
    pub fn without_cache() -> Self {
        Self::in_cache(Path::new(NO_CACHE))
    }

    /// Returns the folders that store `release`. Nightly builds are always stored in the user's cache, so that no
    /// checkout contains one.
    ///
    /// # Errors
    /// Returns an error if `release` is a nightly build and the user has no cache.
    pub fn for_release(self, release: Release) -> Result<Self, NoCache> {
        match release.is_nightly() {
            true => Self::nightlies().ok_or(NoCache),
            false => Ok(self),
        }
    }

    /// Returns the folders of nightly builds in the user's cache, or `None` if the user has no cache.
    pub fn nightlies() -> Option<Self> {
        let nightlies = Self::in_cache(&cache_folder()?.join("nightly"));
        Some(Self {
            extends_embedded: false,
            ..nightlies
        })
    }

    fn in_checkout(root: &Path) -> Self {
        Self {
            store: root.join("headers/store"),
            lock: root.join("headers/sources.toml"),
            snapshots: root.join("generated/ir"),
            symbols: root.join("generated/symbols"),
            ops: root.join("generated/ops/ops.txt"),
            extends_embedded: false,
        }
    }

    fn in_cache(cache: &Path) -> Self {
        Self {
            store: cache.join("store"),
            lock: cache.join("sources.toml"),
            snapshots: cache.join("ir"),
            symbols: cache.join("symbols"),
            ops: cache.join("ops/ops.txt"),
            extends_embedded: true,
        }
    }
}

/// Returns the root of the sp-gen checkout that contains `folder`, or `None` if no checkout does.
pub fn find_checkout(folder: &Path) -> Option<PathBuf> {
    let is_root = |root: &&Path| {
        root.join("headers/apis").is_dir() && root.join("codegen/cli/Cargo.toml").is_file()
    };
    folder.ancestors().find(is_root).map(Path::to_owned)
}

/// Returns `$XDG_CACHE_HOME/sp-gen`, or `~/.cache/sp-gen`, or `None` if the user has no home folder.
fn cache_folder() -> Option<PathBuf> {
    let variable = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = variable.filter(|path| path.is_absolute());
    cache
        .or_else(|| home_folder().map(|home| home.join(".cache")))
        .map(|cache| cache.join("sp-gen"))
}

/// Returns `$HOME`, or the system's entry for the user if that folder exists: in containers and services it often
/// does not.
fn home_folder() -> Option<PathBuf> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty())?;
    let is_set = std::env::var_os("HOME").is_some_and(|value| !value.is_empty());
    (is_set || home.is_dir()).then_some(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_checkout_from_subfolder() {
        let subfolder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let folders = DataFolders::find(&subfolder).unwrap();
        assert!(folders.lock.is_file(), "{folders:?}");
    }

    #[test]
    fn rejects_checkout_without_the_cli_crate() {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(scratch.path().join("headers/apis")).unwrap();
        assert_eq!(find_checkout(scratch.path()), None);
    }
}
