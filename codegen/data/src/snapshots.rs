//! The snapshots that code and histories are generated from, `<folder>/<api>/<release>.json`. In a checkout they are
//! the checkout's. Elsewhere they are the embedded ones; those that the user has imported take precedence.

use sp_system::errors;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use sp_ir::{Api, SnapshotError};
use thiserror::Error;

use crate::embedded::{SNAPSHOTS, Snapshot};
use crate::folders::DataFolders;
use crate::release::Release;
use crate::suggest;
use sp_system::input;
use sp_system::parallel;

errors! {
    /// Snapshots are absent or cannot be read.
    #[derive(Debug, Error, Diagnostic)]
    pub enum SnapshotReadError in generate {
        /// No snapshot of the release exists, or none at all.
        Absent {
            folder: PathBuf,
            release: Option<Release>,
            /// Releases with a similar name, and how to import one.
            help: String,
        } = no_snapshot: ("no snapshot{} in {}", of_release(release), folder.display()),
            help("{help}");

        /// A file or folder cannot be read.
        Unreadable { path: PathBuf, source: io::Error } = unreadable: ("{} cannot be read", path.display());

        /// A file is not a snapshot.
        Malformed { path: PathBuf, reason: SnapshotError } = malformed: ("{}: {reason}", path.display()),
            help("remove the file, and write it again with `sp-gen import`");
    }
}

fn of_release(release: &Option<Release>) -> String {
    release.map_or_else(String::new, |release| format!(" of {release}"))
}

/// The location of a snapshot.
enum SnapshotLocation {
    Disk(PathBuf),
    Embedded(&'static str, &'static Snapshot),
}

/// Snapshots by API, then by release.
type SnapshotLocations = BTreeMap<(String, Release), SnapshotLocation>;

/// Returns every API in every release up to `last`, or in all known releases. They are sorted by API, then by release.
///
/// # Errors
/// Returns an error if no snapshot of `last` exists, or none at all, or if one cannot be read.
pub fn read_history(
    folders: &DataFolders,
    last: Option<Release>,
) -> Result<Vec<Api>, SnapshotReadError> {
    let sources = match last {
        Some(last) => sources_with(folders, last)?,
        None => all_sources(folders)?,
    };
    read_sources(sources, &folders.snapshots, last)
}

/// Returns every API in every known release up to `last`, which need not have snapshots itself.
///
/// # Errors
/// Returns an error if a snapshot cannot be read.
pub fn read_up_to(folders: &DataFolders, last: Release) -> Result<Vec<Api>, SnapshotReadError> {
    read_sources_up_to(sources_with(folders, last)?, last)
}

/// Returns every API in every release of `folder` up to `last`, or in all of them. Embedded snapshots are not read.
///
/// # Errors
/// Returns an error if no snapshot of `last` exists, or none at all, or if one cannot be read.
pub fn read_folder(folder: &Path, last: Option<Release>) -> Result<Vec<Api>, SnapshotReadError> {
    read_sources(stored_sources(folder)?, folder, last)
}

/// Returns every API of `release`, or `None` if it has no snapshots.
///
/// # Errors
/// Returns an error if a snapshot cannot be read.
pub fn read_release(
    folders: &DataFolders,
    release: Release,
) -> Result<Option<Vec<Api>>, SnapshotReadError> {
    let apis = read_matching(folders, release, |_| true)?;
    Ok((!apis.is_empty()).then_some(apis))
}

/// Returns those of the APIs `names` that have a snapshot of `release`.
///
/// # Errors
/// Returns an error if a snapshot cannot be read.
pub fn read_apis(
    folders: &DataFolders,
    release: Release,
    names: &[&str],
) -> Result<Vec<Api>, SnapshotReadError> {
    read_matching(folders, release, |api| names.contains(&api))
}

fn read_matching(
    folders: &DataFolders,
    release: Release,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Api>, SnapshotReadError> {
    let mut apis = Vec::new();
    for ((api, key), source) in sources_with(folders, release)? {
        if key == release.key() && is_wanted(&api) {
            apis.push(read_source(&source)?);
        }
    }
    apis.retain(|api| is_version(api, release));
    Ok(apis)
}

/// Returns every API of the newest known release, or of the newest one up to `last`.
///
/// # Errors
/// Returns an error if a snapshot cannot be read.
pub fn read_newest(
    folders: &DataFolders,
    last: Option<Release>,
) -> Result<Vec<Api>, SnapshotReadError> {
    let newest = newest_release(folders, last)?;
    let apis = newest.map(|newest| read_release(folders, newest));
    Ok(apis.transpose()?.flatten().unwrap_or_default())
}

/// Returns the newest known release, or the newest one up to `last`; `None` if there is none.
///
/// # Errors
/// Returns an error if the folder of snapshots cannot be read.
pub fn newest_release(
    folders: &DataFolders,
    last: Option<Release>,
) -> Result<Option<Release>, SnapshotReadError> {
    let is_included = |known: &Release| last.is_none_or(|last| *known <= last.minor());
    Ok(releases(folders)?.into_iter().rev().find(is_included))
}

/// Returns every API of the newest known release that is older than `release`. Embedded snapshots are always
/// considered.
///
/// # Errors
/// Returns an error if a snapshot cannot be read.
pub fn read_newest_before(
    folders: &DataFolders,
    release: Release,
) -> Result<Vec<Api>, SnapshotReadError> {
    let mut sources = embedded_sources();
    sources.extend(stored_sources(&folders.snapshots)?);
    let known = sources.keys().map(|(_, key)| *key);
    let newest = known.filter(|key| key.minor() < release.minor()).max();
    let sources = sources.into_iter();
    let chosen = sources.filter(|((_, key), _)| Some(*key) == newest);
    chosen.map(|(_, source)| read_source(&source)).collect()
}

/// Returns true if `api`, stored under the key of `release`, is of exactly that version. A minor release matches
/// any version of it.
pub fn is_version(api: &Api, release: Release) -> bool {
    let stored = api.preview.as_ref().and_then(|exact| exact.parse().ok());
    match release {
        Release { patch: None, .. } => true,
        exact if exact.is_final() => stored.is_none(),
        exact => stored == Some(exact),
    }
}

/// Records the exact version in `apis` if `release` is not final.
pub fn mark_preview(apis: &mut [Api], release: Release) {
    let preview = (!release.is_final()).then(|| release.to_string());
    apis.iter_mut()
        .for_each(|api| api.preview.clone_from(&preview));
}

/// Returns the releases that have snapshots, oldest first.
///
/// # Errors
/// Returns an error if the folder of snapshots cannot be read.
pub fn releases(folders: &DataFolders) -> Result<Vec<Release>, SnapshotReadError> {
    let keys = all_sources(folders)?.into_keys();
    let releases: BTreeSet<Release> = keys.map(|(_, key)| key).collect();
    Ok(releases.into_iter().collect())
}

/// Returns the snapshots in `folders`, and those of `release` if it is a nightly build.
fn sources_with(
    folders: &DataFolders,
    release: Release,
) -> Result<SnapshotLocations, SnapshotReadError> {
    let mut sources = all_sources(folders)?;
    if let Some(nightlies) = DataFolders::nightlies().filter(|_| release.is_nightly()) {
        let builds = stored_sources(&nightlies.snapshots)?;
        sources.extend(builds.into_iter().filter(|((_, key), _)| *key == release));
    }
    Ok(sources)
}

/// Returns the newest imported nightly build, or `None` if there is none.
///
/// # Errors
/// Returns an error if the folder of their snapshots cannot be read.
pub fn newest_nightly() -> Result<Option<Release>, SnapshotReadError> {
    let Some(folders) = DataFolders::nightlies() else {
        return Ok(None);
    };
    Ok(releases(&folders)?.pop())
}

/// Returns true if snapshots of exactly that version are embedded in the binary.
pub fn is_embedded(release: Release) -> bool {
    let sources = embedded_sources().into_iter();
    let mut sources = sources.filter(|((_, key), _)| *key == release.key());
    sources.any(|(_, source)| read_source(&source).is_ok_and(|api| is_version(&api, release)))
}

fn all_sources(folders: &DataFolders) -> Result<SnapshotLocations, SnapshotReadError> {
    let mut sources = match folders.extends_embedded {
        true => embedded_sources(),
        false => SnapshotLocations::new(),
    };
    sources.extend(stored_sources(&folders.snapshots)?);
    Ok(sources)
}

/// Reads `sources` up to `last`, which must be among them. `folder` is for messages.
fn read_sources(
    sources: SnapshotLocations,
    folder: &Path,
    last: Option<Release>,
) -> Result<Vec<Api>, SnapshotReadError> {
    let known: BTreeSet<Release> = sources.keys().map(|(_, key)| *key).collect();
    let key = last.map(Release::key).or(known.last().copied());
    let Some(key) = key.filter(|key| known.contains(key)) else {
        return Err(absent(folder, last, &known));
    };
    let apis = read_sources_up_to(sources, key)?;
    let is_last = |api: &&Api| api.release == key.to_string();
    let has_version = |last| apis.iter().filter(is_last).all(|api| is_version(api, last));
    match last.is_none_or(has_version) {
        true => Ok(apis),
        false => Err(absent(folder, last, &known)),
    }
}

fn absent(folder: &Path, release: Option<Release>, known: &BTreeSet<Release>) -> SnapshotReadError {
    let wanted = release.map_or_else(String::new, |release| release.to_string());
    let known: Vec<String> = known.iter().map(Release::to_string).collect();
    let advice = "`sp-gen import tensorflow RELEASE` writes them";
    let names = known.iter().map(String::as_str);
    SnapshotReadError::Absent {
        folder: folder.to_owned(),
        release,
        help: suggest::with_suggestion(&wanted, names, advice),
    }
}

fn read_sources_up_to(
    sources: SnapshotLocations,
    last: Release,
) -> Result<Vec<Api>, SnapshotReadError> {
    let sources = sources.into_iter();
    let chosen = sources.filter(|((_, release), _)| *release <= last.key());
    let chosen: Vec<_> = chosen.map(|(_, source)| source).collect();
    parallel::map(&chosen, read_source).into_iter().collect()
}

fn embedded_sources() -> SnapshotLocations {
    let source = |(name, snapshot): &'static (&'static str, Snapshot)| {
        let path = Path::new(name);
        Some((key(path)?, SnapshotLocation::Embedded(name, snapshot)))
    };
    SNAPSHOTS.iter().filter_map(source).collect()
}

fn stored_sources(folder: &Path) -> Result<SnapshotLocations, SnapshotReadError> {
    let mut sources = SnapshotLocations::new();
    if !folder.exists() {
        return Ok(sources);
    }
    for api in entries(folder)?.iter().filter(|path| path.is_dir()) {
        let snapshots = entries(api)?.into_iter();
        sources
            .extend(snapshots.filter_map(|path| Some((key(&path)?, SnapshotLocation::Disk(path)))));
    }
    Ok(sources)
}

/// Returns the API and the release of `<api>/<release>.json`, or `None` for any other path.
fn key(path: &Path) -> Option<(String, Release)> {
    let api = path.parent()?.file_name()?.to_str()?;
    Some((api.to_owned(), parse_file_name(path)?))
}

fn parse_file_name(path: &Path) -> Option<Release> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(".json")?.parse().ok()
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, SnapshotReadError> {
    let read = || -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
        let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
        // An interrupted import leaves a hidden folder.
        paths.retain(|path| !is_hidden(path));
        paths.sort();
        Ok(paths)
    };
    read().map_err(|source| unreadable(folder, source))
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with('.')
}

fn read_source(source: &SnapshotLocation) -> Result<Api, SnapshotReadError> {
    let (path, text) = match source {
        SnapshotLocation::Embedded(name, snapshot) => {
            (Path::new(name), Cow::Borrowed(snapshot.text()))
        }
        SnapshotLocation::Disk(path) => {
            let text = input::read_text(path).map_err(|source| unreadable(path, source))?;
            (path.as_path(), Cow::Owned(text))
        }
    };
    let path = path.to_owned();
    Api::from_json(&text).map_err(|reason| SnapshotReadError::Malformed { path, reason })
}

fn unreadable(path: &Path, source: io::Error) -> SnapshotReadError {
    let path = path.to_owned();
    SnapshotReadError::Unreadable { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn api(name: &str, release: &str) -> String {
        format!(r#"{{"schema": 1, "name": "{name}", "release": "{release}", "items": {{}}}}"#)
    }

    #[test]
    fn committed_snapshots_are_as_import_writes_them() {
        for (name, snapshot) in &SNAPSHOTS {
            let (api, text) = (Api::from_json(snapshot.text()).unwrap(), snapshot.text());
            assert!(api.to_json() == text, "{name}");
            assert_eq!(*name, format!("{}/{}.json", api.name, api.release));
        }
    }

    #[test]
    fn sorts_releases_by_number() {
        let texts = [api("a", "2.9"), api("a", "2.21"), api("b", "2.21")];
        let folder = folder(&[
            ("a/2.9.json", &texts[0]),
            ("a/2.21.json", &texts[1]),
            ("b/2.21.json", &texts[2]),
        ]);
        let apis = read_folder(folder.path(), None).unwrap();
        let names: Vec<_> = apis
            .iter()
            .map(|api| (api.name.as_str(), api.release.as_str()))
            .collect();
        assert_eq!(names, [("a", "2.9"), ("a", "2.21"), ("b", "2.21")]);
        let old = read_folder(folder.path(), Some("2.9".parse().unwrap())).unwrap();
        assert_eq!(old.len(), 1);
    }

    #[test]
    fn reads_preview_by_version_or_minor_release() {
        let text = api("a", "2.22").replace(
            "\"items\"",
            "\"preview\": true, \"exact\": \"2.22.0rc0\", \"items\"",
        );
        let folder = folder(&[("a/2.22.json", &text)]);
        let read = |release: &str| read_folder(folder.path(), Some(release.parse().unwrap()));
        assert!(read("2.22").is_ok() && read("2.22.0rc0").is_ok());
        for other in ["2.22.0", "2.22.0rc1"] {
            let error = read(other).unwrap_err().to_string();
            let part = format!("no snapshot of {other}");
            assert!(error.contains(&part), "{error}");
        }
    }

    #[test]
    fn names_absent_release_and_malformed_file() {
        let folder = folder(&[("a/2.21.json", "{")]);
        let broken = read_folder(folder.path(), None).unwrap_err().to_string();
        assert!(broken.contains("2.21.json"), "{broken}");
        let nowhere = read_folder(&folder.path().join("none"), None).unwrap_err();
        assert!(nowhere.to_string().contains("no snapshot in"), "{nowhere}");
        let missing = read_folder(folder.path(), Some("2.5".parse().unwrap())).unwrap_err();
        let missing = missing.to_string();
        assert!(missing.contains("no snapshot of 2.5"), "{missing}");
    }
}
