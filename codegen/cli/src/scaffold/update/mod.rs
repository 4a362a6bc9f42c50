//! `update`: brings a plugin's `vendor/` and `Cargo.lock` to this sp-gen's.
//!
//! A file under `vendor/` is sp-gen's if it is as an sp-gen wrote it, which `vendor/.sp-gen.json` shows. Any
//! other file is the author's: it stays, and is named. A plugin without a listing is of an sp-gen that wrote
//! none: there only a file that equals this sp-gen's is known to be sp-gen's, and nothing is written if any
//! differs.

mod author;
mod lock;
mod public;

pub use author::Mention;

use super::listing::{self, Listing};
use super::vendor;
use crate::disk::{self, Drift};
use miette::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a plugin cannot be updated. Nothing was changed.
#[derive(Debug, Error, Diagnostic)]
pub enum UpdateError {
    /// The folder has no vendored crates.
    #[error("{} has no vendor/Cargo.toml", path.display())]
    #[diagnostic(
        code(sp_gen::update::no_scaffold),
        help(
            "run it in the folder that `sp-gen new` wrote; a plugin that was made with `--sp-source path=DIR` is \
             updated with DIR"
        )
    )]
    NoScaffold {
        /// The folder.
        path: PathBuf,
    },
    /// The listing cannot be used.
    #[error("{}: {detail}", path.display())]
    #[diagnostic(
        code(sp_gen::update::listing),
        help("restore the file from your version control, or remove it")
    )]
    Listing {
        /// The file.
        path: PathBuf,
        /// Description of the problem.
        detail: String,
    },
    /// `Cargo.lock` is no lock.
    #[error("{}: {detail}", path.display())]
    #[diagnostic(
        code(sp_gen::update::lock),
        help("restore the file from your version control, or remove it: cargo writes it anew")
    )]
    Lock {
        /// The file.
        path: PathBuf,
        /// Description of the problem.
        detail: String,
    },
    /// The way to a file leads through a symbolic link.
    #[error("{} is a symbolic link", path.display())]
    #[diagnostic(
        code(sp_gen::update::symlink),
        help("its target is outside of the plugin: put the folder or file itself in its place")
    )]
    Symlink {
        /// The link.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    #[diagnostic(code(sp_gen::update::unreadable))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The files cannot be written.
    #[error("cannot write below {}: {source}", path.display())]
    #[diagnostic(
        code(sp_gen::update::unwritable),
        help("the old files are in their places")
    )]
    Unwritable {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// An update that was not written yet.
#[derive(Debug)]
pub struct Plan {
    root: PathBuf,
    drifts: Vec<Drift>,
    /// False if the plugin is of an sp-gen that wrote no listing.
    pub has_listing: bool,
    /// Files under `vendor/` that are not as sp-gen wrote them, and stay.
    pub left_alone: Vec<String>,
    /// Crates that come, and crates that go.
    pub crates: [Vec<String>; 2],
    /// Packages that `Cargo.lock` gets and loses, or why it stays as it is.
    pub lock: Result<Vec<String>, String>,
    /// Public items that are gone and that the author's files name.
    pub mentions: Vec<Mention>,
    /// The release of the crates before and after.
    pub releases: [Option<String>; 2],
}

impl Plan {
    /// Compares the plugin at `root` with what this sp-gen carries. `force` replaces files that are not as
    /// sp-gen wrote them.
    ///
    /// # Errors
    /// Returns an error if `root` is no plugin with vendored crates, or cannot be read.
    pub fn new(root: &Path, force: bool) -> Result<Self, UpdateError> {
        if !root.join("vendor/Cargo.toml").is_file() {
            let path = root.to_owned();
            return Err(UpdateError::NoScaffold { path });
        }
        let carried: Files = vendor::files().into_iter().collect();
        let known = read_listing(root)?;
        let on_disk = read_files(root, &carried, known.as_ref())?;
        let state = State {
            carried: &carried,
            on_disk: &on_disk,
            known: known.as_ref(),
        };
        let left_alone = if force {
            BTreeSet::new()
        } else {
            state.left_alone()
        };
        let mut plan = Self {
            root: root.to_owned(),
            drifts: Vec::new(),
            has_listing: known.is_some(),
            left_alone: left_alone.iter().cloned().collect(),
            crates: state.crates(),
            lock: Ok(Vec::new()),
            mentions: Vec::new(),
            releases: [
                old_release(known.as_ref(), &on_disk),
                Some(super::carried_release().to_owned()),
            ],
        };
        // Of old files that may all be sp-gen's, new ones beside them and a new lock make nothing that builds.
        if plan.has_listing || left_alone.is_empty() {
            plan.fill(&state, &left_alone)?;
        }
        Ok(plan)
    }

    /// Adds what is to be written, and what that means for the author.
    fn fill(
        &mut self,
        state: &State<'_>,
        left_alone: &BTreeSet<String>,
    ) -> Result<(), UpdateError> {
        self.drifts = state.drifts(left_alone);
        let (before, after) = state.contents(&self.drifts);
        self.mentions = author::mentions(&self.root, &public::removed(&before, &after))?;
        self.drifts
            .extend(state.listing_drift(&self.root, left_alone));
        let (drift, lock) = lock_drift(&self.root)?;
        self.drifts.extend(drift);
        self.lock = lock;
        Ok(())
    }

    /// Returns each file that the update writes or removes, with true if it is written.
    pub fn changes(&self) -> impl Iterator<Item = (&str, bool)> {
        let drifts = self.drifts.iter();
        drifts.map(|drift| (drift.path.as_str(), drift.new.is_some()))
    }

    /// Writes the update.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written; the old files are then in their places again.
    pub fn apply(&self) -> Result<(), UpdateError> {
        if self.drifts.is_empty() {
            return Ok(());
        }
        disk::apply(&self.root, &self.drifts).map_err(|source| UpdateError::Unwritable {
            path: self.root.clone(),
            source,
        })
    }
}

/// Contents by path in the plugin's folder.
type Files = BTreeMap<String, Vec<u8>>;

/// What is carried, what is on disk at the same paths, and what an sp-gen wrote there.
struct State<'a> {
    carried: &'a Files,
    on_disk: &'a Files,
    known: Option<&'a Listing>,
}

impl State<'_> {
    /// Returns the files that are neither as an sp-gen wrote them nor as they shall be.
    fn left_alone(&self) -> BTreeSet<String> {
        let is_ours = |path: &str, bytes: &[u8]| self.known.is_some_and(|it| it.has(path, bytes));
        let is_changed = |path: &String, bytes: &[u8]| {
            self.carried.get(path).map(Vec::as_slice) != Some(bytes) && !is_ours(path, bytes)
        };
        let changed = self
            .on_disk
            .iter()
            .filter(|(path, bytes)| is_changed(path, bytes));
        let mut left_alone: BTreeSet<String> = changed.map(|(path, _)| path.clone()).collect();
        // `sp-gen generate --out vendor/sp-abi` writes the crate for other releases; half of each does not build.
        if left_alone.iter().any(|path| path.starts_with(GENERATED)) {
            let drifts = self.drifts(&left_alone);
            let generated = drifts.into_iter().map(|drift| drift.path);
            left_alone.extend(generated.filter(|path| path.starts_with(GENERATED)));
        }
        left_alone
    }

    /// Returns what differs, without the files of `left_alone`.
    fn drifts(&self, left_alone: &BTreeSet<String>) -> Vec<Drift> {
        let paths: BTreeSet<&String> = self.carried.keys().chain(self.on_disk.keys()).collect();
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        let differing = paths.into_iter().filter(|path| {
            !left_alone.contains(*path) && self.carried.get(*path) != self.on_disk.get(*path)
        });
        let drift = |path: &String| Drift {
            path: path.clone(),
            old: self.on_disk.get(path).map(text),
            new: self.carried.get(path).map(text),
        };
        differing.map(drift).collect()
    }

    /// Returns the contents of the differing files before and after.
    fn contents(&self, drifts: &[Drift]) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
        let side = |text: fn(&Drift) -> &Option<String>| {
            let pairs = drifts.iter();
            let pairs = pairs.filter_map(|it| Some((it.path.clone(), text(it).clone()?)));
            pairs.collect()
        };
        (side(|it| &it.old), side(|it| &it.new))
    }

    /// Returns the change of the listing. A file that stays remains listed with the contents that sp-gen has
    /// for it, so that the next update finds it changed again.
    fn listing_drift(&self, root: &Path, left_alone: &BTreeSet<String>) -> Option<Drift> {
        let carried = self.carried.iter();
        let mut listing =
            Listing::new(carried.map(|(path, bytes)| (path.as_str(), bytes.as_slice())));
        let old = self.known.map(|it| &it.files).into_iter().flatten();
        let gone = old.filter(|(path, _)| left_alone.contains(*path));
        for (path, hash) in gone {
            let files = &mut listing.files;
            files.entry(path.clone()).or_insert_with(|| hash.clone());
        }
        let (old, new) = (
            fs::read_to_string(root.join(listing::PATH)).ok(),
            listing.print(),
        );
        (old.as_ref() != Some(&new)).then(|| Drift {
            path: listing::PATH.to_owned(),
            old,
            new: Some(new),
        })
    }

    /// Returns the crates that come and those that go.
    fn crates(&self) -> [Vec<String>; 2] {
        let names = |files: &Files| -> BTreeSet<String> {
            let manifests = files
                .keys()
                .filter_map(|path| path.strip_prefix("vendor/")?.strip_suffix("/Cargo.toml"));
            manifests
                .filter(|it| !it.contains('/'))
                .map(str::to_owned)
                .collect()
        };
        let (old, new) = (names(self.on_disk), names(self.carried));
        let less = |left: &BTreeSet<String>, right| left.difference(right).cloned().collect();
        [less(&new, &old), less(&old, &new)]
    }
}

/// The crate that `sp-gen generate` writes.
const GENERATED: &str = "vendor/sp-abi/";

fn read_listing(root: &Path) -> Result<Option<Listing>, UpdateError> {
    let path = root.join(listing::PATH);
    let Some(bytes) = read_file(root, listing::PATH)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).map_err(|error| error.to_string());
    let parsed = text.and_then(|text| Listing::parse(&text));
    parsed
        .map(Some)
        .map_err(|detail| UpdateError::Listing { path, detail })
}

/// Reads the files at the paths that are carried or listed.
fn read_files(root: &Path, carried: &Files, known: Option<&Listing>) -> Result<Files, UpdateError> {
    let listed = known.map(|it| it.files.keys()).into_iter().flatten();
    let paths: BTreeSet<&String> = carried.keys().chain(listed).collect();
    let mut files = Files::new();
    for path in paths {
        if let Some(bytes) = read_file(root, path)? {
            files.insert(path.clone(), bytes);
        }
    }
    Ok(files)
}

/// Reads a file of the plugin; `None` if it is absent.
fn read_file(root: &Path, file: &str) -> Result<Option<Vec<u8>>, UpdateError> {
    let path = root.join(file);
    let mut above = Path::new(file)
        .ancestors()
        .filter(|it| !it.as_os_str().is_empty());
    if let Some(link) = above.find(|it| root.join(it).is_symlink()) {
        let path = root.join(link);
        return Err(UpdateError::Symlink { path });
    }
    match fs::read(&path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(UpdateError::Unreadable { path, source }),
    }
}

/// Returns the change of `Cargo.lock`, and its packages that come or go or the reason why it stays.
#[expect(
    clippy::type_complexity,
    reason = "both are of one reading of the file"
)]
fn lock_drift(root: &Path) -> Result<(Option<Drift>, Result<Vec<String>, String>), UpdateError> {
    const PATH: &str = "Cargo.lock";
    let path = root.join(PATH);
    let invalid = |detail| UpdateError::Lock {
        path: path.clone(),
        detail,
    };
    let Some(bytes) = read_file(root, PATH)? else {
        return Ok((None, Err("there is none".to_owned())));
    };
    let old = String::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?;
    match lock::merge(&old).map_err(invalid)? {
        lock::Merged::Same => Ok((None, Ok(Vec::new()))),
        lock::Merged::Left(reason) => Ok((None, Err(reason))),
        lock::Merged::Changed { text, packages } => {
            let drift = Drift {
                path: PATH.to_owned(),
                old: Some(old),
                new: Some(text),
            };
            Ok((Some(drift), Ok(packages)))
        }
    }
}

/// Returns the release whose contract the crates on disk have.
fn old_release(known: Option<&Listing>, on_disk: &Files) -> Option<String> {
    let of_api = |path: &String| {
        let file = path.strip_prefix("vendor/sp-abi/ir/stream_executor/")?;
        Some(file.strip_suffix(".json")?.to_owned())
    };
    let listed = known.map(|it| it.release.clone());
    listed.or_else(|| on_disk.keys().find_map(of_api))
}

#[cfg(test)]
mod tests;
