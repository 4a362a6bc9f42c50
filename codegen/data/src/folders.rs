//! The folders of headers, snapshots and symbols: in the checkout that a command runs in, else in the user's cache.
//!
//! A checkout, found in the folders above, is used only if it belongs to the user ([`find_checkout`]).

use super::embedded::API_NOTES;
use super::release::Release;
use miette::Diagnostic;
use sp_system::errors;
use sp_system::user;
use std::fs::Metadata;
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

errors! {
    /// A folder that a command writes to is absent, or would be elsewhere than it states.
    #[derive(Debug, Error, Diagnostic)]
    pub enum FolderError in checkout {
        /// The user has no cache.
        NoCache(NoCache) = transparent;

        /// A path of a checkout is a symbolic link.
        SymbolicLink(PathBuf) = symbolic_link: ("{} is a symbolic link", .0.display()),
            help("no file was changed. A link in a checkout may lead out of it: replace the link by a copy of its \
                  target, or \
             remove it");
    }
}

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
    /// Returns the folders for a command that runs in `folder` and writes, as [`DataFolders::find`] does.
    ///
    /// # Errors
    /// Returns an error if the user has no cache, or if a path in the checkout is a symbolic link: a repository that was
    /// cloned could have it, so that files elsewhere are replaced.
    pub fn find_writable(folder: &Path) -> Result<Self, FolderError> {
        let Some(root) = find_checkout(folder) else {
            return Ok(Self::find(folder)?);
        };
        let folders = Self::in_checkout(&root);
        for path in [
            &folders.store,
            &folders.lock,
            &folders.snapshots,
            &folders.symbols,
            &folders.ops,
            &folders.required_fields(),
        ] {
            check_no_link(&root, path)?;
        }
        Ok(folders)
    }

    /// Returns the folders for a command that runs in `folder`: the checkout's, else the cache's.
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

    /// Returns why the cache cannot be read, or `None` if it can, is absent, or the folders are those of a checkout.
    pub fn problem_of_cache(&self) -> Option<String> {
        use std::io::ErrorKind::{NotADirectory, PermissionDenied};
        let error = self
            .symbols
            .read_dir()
            .err()
            .filter(|it| [NotADirectory, PermissionDenied].contains(&it.kind()))?;
        let is_cache = self.extends_embedded;
        is_cache.then(|| format!("{}: {error}", self.symbols.display()))
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

    /// Returns the folder of the required fields, which is beside that of the symbols.
    pub(crate) fn required_fields(&self) -> PathBuf {
        self.symbols.with_file_name("required_fields")
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

/// The paths by which a checkout is recognized.
const CHECKOUT_PATHS: [&str; 2] = ["headers/apis", "codegen/cli/Cargo.toml"];

/// The variable with which the user trusts the checkout of another user.
pub const TRUST_CHECKOUT: &str = "SP_TRUST_CHECKOUT";

/// Returns the root of the sp-gen checkout that contains `folder`. Returns `None` if no checkout does, or if it belongs to
/// another user, who could have written it to change what sp-gen reads and where it writes.
pub fn find_checkout(folder: &Path) -> Option<PathBuf> {
    checkout_above(folder).filter(|root| is_trusted(root, &user::owns))
}

/// Returns the root of the checkout that contains `folder` and that [`find_checkout`] does not return, since it belongs to
/// another user.
pub fn find_untrusted_checkout(folder: &Path) -> Option<PathBuf> {
    checkout_above(folder).filter(|root| !is_trusted(root, &user::owns))
}

/// Checks that `path`, below the root of a checkout, is no symbolic link, and is not below one.
///
/// # Errors
/// Returns an error that names the link.
pub fn check_no_link(root: &Path, path: &Path) -> Result<(), FolderError> {
    let mut below = path.ancestors().take_while(|above| *above != root);
    match below.find(|above| above.is_symlink()) {
        Some(link) => Err(FolderError::SymbolicLink(link.to_owned())),
        None => Ok(()),
    }
}

/// Returns the file of notes of the checkout at `root` that is not as this binary has it embedded, or `None` if there is none.
pub fn find_changed_notes(root: &Path) -> Option<PathBuf> {
    let is_changed = |(file, notes): &(&str, &str)| {
        let path = root.join(CHECKOUT_PATHS[0]).join(file);
        let text = std::fs::read_to_string(&path).ok()?;
        (text != *notes).then_some(path)
    };
    API_NOTES.iter().find_map(is_changed)
}

fn checkout_above(folder: &Path) -> Option<PathBuf> {
    let [apis, cli] = CHECKOUT_PATHS;
    let is_root = |root: &&Path| root.join(apis).is_dir() && root.join(cli).is_file();
    folder.ancestors().find(is_root).map(Path::to_owned)
}

fn is_trusted(root: &Path, owns: &dyn Fn(&Metadata) -> bool) -> bool {
    let is_own = |path: PathBuf| path.metadata().is_ok_and(|metadata| owns(&metadata));
    let is_set = std::env::var_os(TRUST_CHECKOUT).is_some_and(|value| value == "1");
    is_set || (is_own(root.to_owned()) && CHECKOUT_PATHS.iter().all(|it| is_own(root.join(it))))
}

/// Returns `$XDG_CACHE_HOME/sp-gen`, or `~/.cache/sp-gen`, or `None` if the user has no home folder.
pub fn cache_folder() -> Option<PathBuf> {
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
    fn finds_notes_that_differ_from_embedded_ones() {
        let scratch = tempfile::tempdir().unwrap();
        let notes = scratch.path().join("headers/apis");
        std::fs::create_dir_all(&notes).unwrap();
        let (file, text) = API_NOTES[0];
        let path = notes.join(file);
        std::fs::write(&path, text).unwrap();
        assert_eq!(find_changed_notes(scratch.path()), None);
        std::fs::write(&path, format!("{text}# more")).unwrap();
        assert_eq!(find_changed_notes(scratch.path()), Some(path));
    }

    #[test]
    fn does_not_trust_checkout_of_another_user() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        assert_eq!(find_checkout(&root), Some(root.clone()));
        assert!(!is_trusted(&root, &|_| false));
        // One of its parts belongs to another user.
        let owns = |metadata: &Metadata| metadata.is_dir();
        assert!(!is_trusted(&root, &owns));
    }

    /// Only root can give a file to another user.
    #[cfg(unix)]
    #[test]
    fn finds_no_checkout_whose_folder_another_user_owns() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        std::fs::create_dir_all(root.join("headers/apis")).unwrap();
        std::fs::create_dir_all(root.join("codegen/cli")).unwrap();
        std::fs::write(root.join("codegen/cli/Cargo.toml"), "").unwrap();
        assert_eq!(find_checkout(root).as_deref(), Some(root));
        if std::os::unix::fs::chown(root.join("headers/apis"), Some(65534), None).is_err() {
            return eprintln!("skipped: only root can change the owner of a file");
        }
        assert_eq!(find_checkout(root), None);
        assert_eq!(find_untrusted_checkout(root).as_deref(), Some(root));
    }

    #[cfg(unix)]
    #[test]
    fn writes_to_no_checkout_with_a_link() {
        let paths = "headers/store headers/sources.toml generated generated/ir generated/symbols \
            generated/required_fields generated/ops generated/ops/ops.txt";
        let outside = tempfile::tempdir().unwrap();
        for path in paths.split(' ') {
            let scratch = tempfile::tempdir().unwrap();
            let root = scratch.path();
            for folder in ["headers/apis", "codegen/cli"] {
                std::fs::create_dir_all(root.join(folder)).unwrap();
            }
            std::fs::write(root.join("codegen/cli/Cargo.toml"), "").unwrap();
            assert!(DataFolders::find_writable(root).is_ok());
            let link = root.join(path);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(outside.path(), &link).unwrap();
            let error = DataFolders::find_writable(&root.join("codegen")).unwrap_err();
            let expected = format!("{} is a symbolic link", link.display());
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn rejects_checkout_without_the_cli_crate() {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(scratch.path().join("headers/apis")).unwrap();
        assert_eq!(find_checkout(scratch.path()), None);
    }
}
