//! Updates a plugin's `vendor/` and `Cargo.lock` to this version of sp-gen.
//!
//! A file under `vendor/` is replaced only if sp-gen wrote it, which its hash in `vendor/.sp-gen.json` proves. Other
//! files are the author's: they are left alone and listed. Early versions of sp-gen wrote no listing. In their
//! plugins a file is known to be sp-gen's only if it equals the embedded one, so nothing is written if any file
//! differs.
//!
//! In `Cargo.lock` the sp-* crates are replaced, and the packages that only they need; a compatible newer package of
//! the author is preserved (`lock`). Removed public items are searched in the author's sources (`public`, `author`);
//! `renames.toml` has their new names.

mod author;
mod lock;
mod public;

pub use author::Mention;

use super::vendor;
use crate::disk::{self, Drift};
use crate::embedded::embedded_release;
use crate::listing::{self, Listing};
use miette::Diagnostic;
use sp_ir::Release;
use sp_system::budget::{Exceeded, Limits, supervise};
use sp_system::errors;
use sp_system::input::{self, MAX_LOCK_BYTES, MAX_TEXT_BYTES};
use sp_system::replacement::ReplacementError;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

errors! {
    /// A failure to update a plugin, which is unchanged.
    #[derive(Debug, Error, Diagnostic)]
    pub enum UpdateError in update {
        /// The folder has no vendored crates.
        NoVendoredCrates(PathBuf) = no_vendored_crates: ("{} has no vendor/Cargo.toml", .0.display()),
            help("run it in a folder that `sp-gen new` wrote; a plugin that was written with `--sp-source path=DIR` \
                  uses the \
             crates in DIR, and needs no update");

        /// The listing is invalid.
        Listing { path: PathBuf, detail: String } = invalid_listing: ("{}: {detail}", path.display()),
            help("restore the file from your version control, or remove it");

        /// `Cargo.lock` is invalid.
        Lock { path: PathBuf, detail: String } = invalid_lock: ("{}: {detail}", path.display()),
            help("restore the file from your version control, or remove it: cargo writes a new one");

        /// The path of a file has a symbolic link.
        Symlink(PathBuf) = symbolic_link: ("{} is a symbolic link", .0.display()),
            help("its target may be outside of the plugin: replace the link by its target");

        /// A file cannot be read.
        Unreadable { path: PathBuf, source: io::Error }
            = unreadable: ("cannot read {}: {source}", path.display());

        /// The vendored crates have code that takes more time or memory than any real one.
        Exceeded { path: PathBuf, limit: Exceeded }
            = limit: ("cannot read the code below {}: {limit}", path.display()),
            help("no file was changed; restore the folder from your version control");

        /// The files cannot be replaced.
        Replacement(ReplacementError) = transparent;
    }
}

/// The limits for reading the public items of the crates, which takes a second and 100 MiB.
const PARSE_LIMITS: Limits = Limits {
    time: Duration::from_secs(60),
    bytes: 1 << 30,
};

/// A planned update.
#[derive(Debug)]
pub struct UpdatePlan {
    root: PathBuf,
    drifts: Vec<Drift>,
    /// False if the version of sp-gen that wrote the plugin wrote no listing.
    pub has_listing: bool,
    /// Files under `vendor/` that differ from what sp-gen wrote, and are left alone.
    pub left_alone: Vec<String>,
    /// Added crates and removed crates.
    pub crates: [Vec<String>; 2],
    /// Packages that are added to `Cargo.lock` or removed from it, or the reason why it is not changed.
    pub lock: Result<Vec<String>, String>,
    /// Uses of removed public items in the author's files.
    pub mentions: Vec<Mention>,
    /// The releases of the old and the new crates.
    pub releases: [Option<String>; 2],
}

impl UpdatePlan {
    /// Compares the plugin at `root` with the embedded crates. With `force`, also replaces files that differ from what
    /// sp-gen wrote.
    ///
    /// # Errors
    /// Returns an error if `root` is not a plugin with vendored crates, or cannot be read.
    pub fn new(root: &Path, force: bool) -> Result<Self, UpdateError> {
        if !root.join("vendor/Cargo.toml").is_file() {
            let path = root.to_owned();
            return Err(UpdateError::NoVendoredCrates(path));
        }
        let embedded: Files = vendor::vendored_files().into_iter().collect();
        let listing = read_listing(root)?;
        let on_disk = read_files(root, &embedded, listing.as_ref())?;
        let state = PluginState {
            embedded: &embedded,
            on_disk: &on_disk,
            listing: listing.as_ref(),
        };
        let left_alone = if force {
            BTreeSet::new()
        } else {
            state.left_alone()
        };
        let mut plan = Self {
            root: root.to_owned(),
            drifts: Vec::new(),
            has_listing: listing.is_some(),
            left_alone: left_alone.iter().cloned().collect(),
            crates: state.crates(),
            lock: Ok(Vec::new()),
            mentions: Vec::new(),
            releases: [
                old_release(listing.as_ref(), &on_disk),
                Some(embedded_release().to_owned()),
            ],
        };
        // A mixture of old files, new files and a new lock would not build.
        if plan.has_listing || left_alone.is_empty() {
            plan.add_changes(&state, &left_alone)?;
        }
        Ok(plan)
    }

    /// Adds the files to write, and their effect on the author's files.
    fn add_changes(
        &mut self,
        state: &PluginState<'_>,
        left_alone: &BTreeSet<String>,
    ) -> Result<(), UpdateError> {
        self.drifts = state.drifts(left_alone);
        let (before, after) = state.changed_texts(&self.drifts);
        // `syn` recurses for each level of an expression, and a listing may have the hash of any file.
        let removed = supervise(PARSE_LIMITS, move || public::removed(&before, &after));
        let removed = removed.map_err(|limit| UpdateError::Exceeded {
            path: self.root.join("vendor"),
            limit,
        })?;
        self.mentions = author::mentions(&self.root, &removed)?;
        self.drifts
            .extend(state.listing_drift(&self.root, left_alone));
        let (drift, lock) = lock_drift(&self.root)?;
        self.drifts.extend(drift);
        self.lock = lock;
        Ok(())
    }

    /// Returns each file that the update changes, with true if it is written and false if it is removed.
    pub fn changes(&self) -> impl Iterator<Item = (&str, bool)> {
        let drifts = self.drifts.iter();
        drifts.map(|drift| (drift.path.as_str(), drift.new.is_some()))
    }

    /// Writes the update.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written, or was changed since the plan was made. All files are unchanged
    /// then.
    pub fn apply(&self) -> Result<(), UpdateError> {
        match self.drifts.is_empty() {
            true => Ok(()),
            false => Ok(disk::apply(&self.root, &self.drifts)?),
        }
    }
}

/// Contents by path in the plugin's folder.
type Files = BTreeMap<String, Vec<u8>>;

/// The embedded files, the files on disk at the same paths, and the listing of what sp-gen wrote.
struct PluginState<'a> {
    embedded: &'a Files,
    on_disk: &'a Files,
    listing: Option<&'a Listing>,
}

impl PluginState<'_> {
    /// Returns the files that equal neither the listed nor the embedded ones.
    fn left_alone(&self) -> BTreeSet<String> {
        let is_listed =
            |path: &str, bytes: &[u8]| self.listing.is_some_and(|listing| listing.has(path, bytes));
        let is_changed = |path: &String, bytes: &[u8]| {
            self.embedded.get(path).map(Vec::as_slice) != Some(bytes) && !is_listed(path, bytes)
        };
        let changed = self.on_disk.iter();
        let changed = changed.filter(|(path, bytes)| is_changed(path, bytes));
        let mut left_alone: BTreeSet<String> = changed.map(|(path, _)| path.clone()).collect();
        // `sp-gen generate --out vendor/sp-abi` writes the crate for other releases. A mixture would not build.
        if left_alone
            .iter()
            .any(|path| path.starts_with(GENERATED_CRATE))
        {
            let drifts = self.drifts(&left_alone);
            let generated = drifts.into_iter().map(|drift| drift.path);
            left_alone.extend(generated.filter(|path| path.starts_with(GENERATED_CRATE)));
        }
        left_alone
    }

    /// Returns the differences between disk and embedded files, without the files in `left_alone`.
    fn drifts(&self, left_alone: &BTreeSet<String>) -> Vec<Drift> {
        let paths: BTreeSet<&String> = self.embedded.keys().chain(self.on_disk.keys()).collect();
        let different = paths.into_iter().filter(|path| {
            !left_alone.contains(*path) && self.embedded.get(*path) != self.on_disk.get(*path)
        });
        let drift = |path: &String| Drift {
            path: path.clone(),
            old: self.on_disk.get(path).cloned(),
            new: self.embedded.get(path).cloned(),
        };
        different.map(drift).collect()
    }

    /// Returns the old and the new contents of the files in `drifts`.
    fn changed_texts(
        &self,
        drifts: &[Drift],
    ) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
        let side = |bytes: fn(&Drift) -> &Option<Vec<u8>>| {
            let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
            let pair = |drift: &Drift| Some((drift.path.clone(), bytes(drift).as_ref().map(text)?));
            drifts.iter().filter_map(pair).collect()
        };
        (side(|drift| &drift.old), side(|drift| &drift.new))
    }

    /// Returns the change of the listing. A file that is left alone is listed with the hash of the embedded one, so
    /// that the next update detects it again.
    fn listing_drift(&self, root: &Path, left_alone: &BTreeSet<String>) -> Option<Drift> {
        let embedded = self.embedded.iter();
        let mut new_listing =
            Listing::new(embedded.map(|(path, bytes)| (path.as_str(), bytes.as_slice())));
        let old = self.listing.map(|listing| &listing.files).into_iter();
        let old = old.flatten();
        let removed = old.filter(|(path, _)| left_alone.contains(*path));
        for (path, hash) in removed {
            let files = &mut new_listing.files;
            files.entry(path.clone()).or_insert_with(|| hash.clone());
        }
        let old = input::read(&root.join(listing::PATH), MAX_TEXT_BYTES).ok();
        let new = new_listing.to_json().into_bytes();
        (old.as_ref() != Some(&new)).then(|| Drift {
            path: listing::PATH.to_owned(),
            old,
            new: Some(new),
        })
    }

    /// Returns the added and the removed crates.
    fn crates(&self) -> [Vec<String>; 2] {
        let names = |files: &Files| -> BTreeSet<String> {
            let manifests = files
                .keys()
                .filter_map(|path| path.strip_prefix("vendor/")?.strip_suffix("/Cargo.toml"));
            manifests
                .filter(|name| !name.contains('/'))
                .map(str::to_owned)
                .collect()
        };
        let (old, new) = (names(self.on_disk), names(self.embedded));
        let difference = |left: &BTreeSet<String>, right| left.difference(right).cloned().collect();
        [difference(&new, &old), difference(&old, &new)]
    }
}

/// The crate that `sp-gen generate` writes.
const GENERATED_CRATE: &str = "vendor/sp-abi/";

fn read_listing(root: &Path) -> Result<Option<Listing>, UpdateError> {
    let path = root.join(listing::PATH);
    let Some(bytes) = read_file(root, listing::PATH, MAX_TEXT_BYTES)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).map_err(|error| error.to_string());
    let parsed = text.and_then(|text| Listing::parse(&text));
    parsed
        .map(Some)
        .map_err(|detail| UpdateError::Listing { path, detail })
}

/// Reads the files at the paths of embedded or listed files.
fn read_files(
    root: &Path,
    embedded: &Files,
    listing: Option<&Listing>,
) -> Result<Files, UpdateError> {
    let listed = listing.map(|listing| listing.files.keys()).into_iter();
    let listed = listed.flatten();
    let paths: BTreeSet<&String> = embedded.keys().chain(listed).collect();
    let mut files = Files::new();
    for path in paths {
        if let Some(bytes) = read_file(root, path, MAX_TEXT_BYTES)? {
            files.insert(path.clone(), bytes);
        }
    }
    Ok(files)
}

/// Reads a file of the plugin of at most `limit` bytes. Returns `None` if it is absent.
fn read_file(root: &Path, file: &str, limit: u64) -> Result<Option<Vec<u8>>, UpdateError> {
    let path = root.join(file);
    let mut above = Path::new(file)
        .ancestors()
        .filter(|ancestor| !ancestor.as_os_str().is_empty());
    if let Some(link) = above.find(|ancestor| root.join(ancestor).is_symlink()) {
        let path = root.join(link);
        return Err(UpdateError::Symlink(path));
    }
    match input::read(&path, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(UpdateError::Unreadable { path, source }),
    }
}

/// Returns the change of `Cargo.lock`, and its added and removed packages or the reason why it is not changed.
#[expect(
    clippy::type_complexity,
    reason = "both results need one pass over the file"
)]
fn lock_drift(root: &Path) -> Result<(Option<Drift>, Result<Vec<String>, String>), UpdateError> {
    const PATH: &str = "Cargo.lock";
    let path = root.join(PATH);
    let invalid = |detail| UpdateError::Lock {
        path: path.clone(),
        detail,
    };
    let Some(bytes) = read_file(root, PATH, MAX_LOCK_BYTES)? else {
        return Ok((None, Err("the file is absent".to_owned())));
    };
    let old = String::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?;
    match lock::merge(&old).map_err(invalid)? {
        lock::MergedLock::Unchanged => Ok((None, Ok(Vec::new()))),
        lock::MergedLock::Unsupported(reason) => Ok((None, Err(reason))),
        lock::MergedLock::Changed { text, packages } => {
            let drift = Drift {
                path: PATH.to_owned(),
                old: Some(old.into_bytes()),
                new: Some(text.into_bytes()),
            };
            Ok((Some(drift), Ok(packages)))
        }
    }
}

/// Returns the release of the crates on disk.
fn old_release(listing: Option<&Listing>, on_disk: &Files) -> Option<String> {
    let release = |path: &String| {
        let file = path.strip_prefix("vendor/sp-abi/ir/stream_executor/")?;
        let release: Release = file.strip_suffix(".json")?.parse().ok()?;
        Some(release.to_string())
    };
    let listed = listing.map(|listing| listing.release.clone());
    listed.or_else(|| on_disk.keys().find_map(release))
}

#[cfg(test)]
mod tests;
