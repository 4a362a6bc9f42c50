//! The snapshots that code and histories are made from, `<folder>/<api>/<release>.json`: the
//! checkout's; elsewhere the binary's, and over them those that the user has imported.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use sp_ir::{Api, SnapshotError};
use thiserror::Error;

use crate::embedded::SNAPSHOTS;
use crate::folders::DataFolders;
use crate::release::Release;
use crate::suggest;
use sp_system::parallel;

/// Why snapshots cannot be read.
#[derive(Debug, Error, Diagnostic)]
pub enum ReadError {
    /// There are none of that release, or none at all.
    #[error("there is no snapshot{} in {}", named(release), folder.display())]
    #[diagnostic(code(sp_gen::generate::no_snapshot), help("{help}"))]
    None {
        /// The folder.
        folder: PathBuf,
        /// The release that was asked for.
        release: Option<Release>,
        /// Releases that are close to it, and how to import one.
        help: String,
    },
    /// A file or folder cannot be read.
    #[error("{} cannot be read", path.display())]
    #[diagnostic(code(sp_gen::generate::unreadable))]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file holds no snapshot.
    #[error("{}: {reason}", path.display())]
    #[diagnostic(
        code(sp_gen::generate::malformed),
        help("write it again with `sp-gen import`")
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: SnapshotError,
    },
}

fn named(release: &Option<Release>) -> String {
    release.map_or_else(String::new, |release| format!(" of {release}"))
}

/// A snapshot that is not read yet.
enum Source {
    Disk(PathBuf),
    Carried(&'static str, &'static str),
}

/// By API, then by release.
type Sources = BTreeMap<(String, Release), Source>;

/// Every API in every release up to `release`, or in all of them, as `place` has them. Sorted by
/// API, then by release.
///
/// # Errors
/// As [`read`].
pub fn of(place: &DataFolders, release: Option<Release>) -> Result<Vec<Api>, ReadError> {
    let sources = match release {
        Some(release) => sources_with(place, release)?,
        None => sources(place)?,
    };
    parse(sources, &place.snapshots, release)
}

/// What there is of the releases up to `release`, which itself need not be there.
///
/// # Errors
/// Where one cannot be read.
pub fn until(place: &DataFolders, release: Release) -> Result<Vec<Api>, ReadError> {
    load(sources_with(place, release)?, release)
}

/// Every API in every release up to `release`, or in all of them, from `folder` alone.
///
/// # Errors
/// Where there is none of `release`, or none at all, or one cannot be read.
pub fn read(folder: &Path, release: Option<Release>) -> Result<Vec<Api>, ReadError> {
    parse(stored(folder)?, folder, release)
}

/// Every API of one release, or nothing where there are none of it.
///
/// # Errors
/// Where one cannot be read.
pub fn at(place: &DataFolders, release: Release) -> Result<Option<Vec<Api>>, ReadError> {
    let sources = sources_with(place, release)?.into_iter();
    let of_it = sources.filter(|((_, one), _)| *one == release.key());
    let apis = of_it.map(|(_, source)| snapshot(&source));
    let mut apis = apis.collect::<Result<Vec<_>, _>>()?;
    apis.retain(|api| holds(api, release));
    Ok((!apis.is_empty()).then_some(apis))
}

/// Every API of the newest known release that is not newer than `release`, or of the newest one.
///
/// # Errors
/// Returns an error if a snapshot cannot be read.
pub fn newest(place: &DataFolders, release: Option<Release>) -> Result<Vec<Api>, ReadError> {
    let newest = newest_release(place, release)?;
    let apis = newest.map(|newest| at(place, newest)).transpose()?;
    Ok(apis.flatten().unwrap_or_default())
}

/// The newest known release that is not newer than `release`, or the newest one.
///
/// # Errors
/// Returns an error if the folder of snapshots cannot be read.
pub fn newest_release(
    place: &DataFolders,
    release: Option<Release>,
) -> Result<Option<Release>, ReadError> {
    let is_older = |one: &Release| release.is_none_or(|release| *one <= release.minor());
    Ok(releases(place)?.into_iter().rev().find(is_older))
}

/// Every API of the newest known release that is older than `release`, of those in the binary too.
///
/// # Errors
/// Returns an error if a snapshot cannot be read.
pub fn before(place: &DataFolders, release: Release) -> Result<Vec<Api>, ReadError> {
    let mut sources = carried();
    sources.extend(stored(&place.snapshots)?);
    let is_older = |one: &&Release| one.minor() < release.minor();
    let newest = sources
        .keys()
        .map(|(_, one)| one)
        .filter(is_older)
        .max()
        .copied();
    let of_it = sources
        .into_iter()
        .filter(|((_, one), _)| Some(*one) == newest);
    of_it.map(|(_, source)| snapshot(&source)).collect()
}

/// Those of `names` that one release has.
///
/// # Errors
/// Where one cannot be read.
pub fn some(place: &DataFolders, release: Release, names: &[&str]) -> Result<Vec<Api>, ReadError> {
    let sources = sources_with(place, release)?.into_iter();
    let wanted =
        sources.filter(|((api, one), _)| *one == release.key() && names.contains(&api.as_str()));
    let apis = wanted.map(|(_, source)| snapshot(&source));
    let mut apis = apis.collect::<Result<Vec<_>, _>>()?;
    apis.retain(|api| holds(api, release));
    Ok(apis)
}

/// Returns true if the snapshot stored under the key of `release` is of that version. A minor release
/// stands for whatever is stored.
pub fn holds(api: &Api, release: Release) -> bool {
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

/// The releases that have snapshots, oldest first.
///
/// # Errors
/// Where the folder of snapshots cannot be read.
pub fn releases(place: &DataFolders) -> Result<Vec<Release>, ReadError> {
    let releases: BTreeSet<Release> = sources(place)?.into_keys().map(|(_, one)| one).collect();
    Ok(releases.into_iter().collect())
}

/// Returns the snapshots of `place`, and those of `release` if it is a nightly build.
fn sources_with(place: &DataFolders, release: Release) -> Result<Sources, ReadError> {
    let mut sources = sources(place)?;
    if let Some(nightlies) = DataFolders::nightlies().filter(|_| release.is_nightly()) {
        let builds = stored(&nightlies.snapshots)?;
        sources.extend(builds.into_iter().filter(|((_, one), _)| *one == release));
    }
    Ok(sources)
}

/// Returns the newest nightly build that is imported.
///
/// # Errors
/// Returns an error if the folder of their snapshots cannot be read.
pub fn newest_nightly() -> Result<Option<Release>, ReadError> {
    let Some(place) = DataFolders::nightlies() else {
        return Ok(None);
    };
    Ok(releases(&place)?.pop())
}

/// Returns true if the binary carries snapshots of that version.
pub fn is_carried(release: Release) -> bool {
    let of_it = carried().into_iter();
    let mut of_it = of_it.filter(|((_, one), _)| *one == release.key());
    of_it.any(|(_, source)| snapshot(&source).is_ok_and(|api| holds(&api, release)))
}

fn sources(place: &DataFolders) -> Result<Sources, ReadError> {
    let mut sources = match place.inherits {
        true => carried(),
        false => Sources::new(),
    };
    sources.extend(stored(&place.snapshots)?);
    Ok(sources)
}

fn parse(sources: Sources, folder: &Path, release: Option<Release>) -> Result<Vec<Api>, ReadError> {
    let releases = || sources.keys().map(|(_, release)| *release);
    let last = release.map(Release::key).or(releases().max());
    let known: BTreeSet<Release> = releases().collect();
    match last.filter(|last| releases().any(|release| release == *last)) {
        Some(last) => {
            let apis = load(sources, last)?;
            let is_last = |api: &&Api| api.release == last.to_string();
            let is_held = |release| apis.iter().filter(is_last).all(|api| holds(api, release));
            match release.is_none_or(is_held) {
                true => Ok(apis),
                false => Err(none(folder, release, &known)),
            }
        }
        None => Err(none(folder, release, &known)),
    }
}

fn none(folder: &Path, release: Option<Release>, known: &BTreeSet<Release>) -> ReadError {
    let wanted = release.map_or_else(String::new, |release| release.to_string());
    let known: Vec<String> = known.iter().map(Release::to_string).collect();
    let how = "`sp-gen import tensorflow RELEASE` writes them";
    let names = known.iter().map(String::as_str);
    ReadError::None {
        folder: folder.to_owned(),
        release,
        help: suggest::before(&wanted, names, how),
    }
}

fn load(sources: Sources, last: Release) -> Result<Vec<Api>, ReadError> {
    let sources = sources.into_iter();
    let chosen = sources.filter(|((_, release), _)| *release <= last.key());
    let chosen: Vec<_> = chosen.map(|(_, source)| source).collect();
    parallel::map(&chosen, snapshot).into_iter().collect()
}

fn carried() -> Sources {
    let source = |(name, text): &(&'static str, &'static str)| {
        let path = Path::new(name);
        Some((key(path)?, Source::Carried(name, text)))
    };
    SNAPSHOTS.iter().filter_map(source).collect()
}

fn stored(folder: &Path) -> Result<Sources, ReadError> {
    let mut found = Sources::new();
    if !folder.exists() {
        return Ok(found);
    }
    for api in entries(folder)?.iter().filter(|path| path.is_dir()) {
        let snapshots = entries(api)?.into_iter();
        found.extend(snapshots.filter_map(|path| Some((key(&path)?, Source::Disk(path)))));
    }
    Ok(found)
}

/// The API and release that `<api>/<release>.json` holds.
fn key(path: &Path) -> Option<(String, Release)> {
    let api = path.parent()?.file_name()?.to_str()?;
    Some((api.to_owned(), release_of(path)?))
}

fn release_of(path: &Path) -> Option<Release> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(".json")?.parse().ok()
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let read = || -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(folder)?.map(|entry| entry.map(|it| it.path()));
        let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    read().map_err(|source| unreadable(folder, source))
}

fn snapshot(source: &Source) -> Result<Api, ReadError> {
    let (path, text) = match source {
        Source::Carried(name, text) => (Path::new(name), Cow::Borrowed(*text)),
        Source::Disk(path) => {
            let text = fs::read_to_string(path).map_err(|source| unreadable(path, source))?;
            (path.as_path(), Cow::Owned(text))
        }
    };
    let path = path.to_owned();
    Api::from_json(&text).map_err(|reason| ReadError::Malformed { path, reason })
}

fn unreadable(path: &Path, source: io::Error) -> ReadError {
    let path = path.to_owned();
    ReadError::Unreadable { path, source }
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
    fn releases_are_sorted_by_number() {
        let texts = [api("a", "2.9"), api("a", "2.21"), api("b", "2.21")];
        let folder = folder(&[
            ("a/2.9.json", &texts[0]),
            ("a/2.21.json", &texts[1]),
            ("b/2.21.json", &texts[2]),
        ]);
        let apis = read(folder.path(), None).unwrap();
        let names: Vec<_> = apis
            .iter()
            .map(|it| (it.name.as_str(), it.release.as_str()))
            .collect();
        assert_eq!(names, [("a", "2.9"), ("a", "2.21"), ("b", "2.21")]);
        let old = read(folder.path(), Some("2.9".parse().unwrap())).unwrap();
        assert_eq!(old.len(), 1);
    }

    #[test]
    fn reads_a_preview_under_its_own_version_or_its_minor_only() {
        let text = api("a", "2.22").replace(
            "\"items\"",
            "\"preview\": true, \"exact\": \"2.22.0rc0\", \"items\"",
        );
        let folder = folder(&[("a/2.22.json", &text)]);
        let read = |release: &str| read(folder.path(), Some(release.parse().unwrap()));
        assert!(read("2.22").is_ok() && read("2.22.0rc0").is_ok());
        for other in ["2.22.0", "2.22.0rc1"] {
            let error = read(other).unwrap_err().to_string();
            assert!(
                error.contains(&format!("no snapshot of {other}")),
                "{error}"
            );
        }
    }

    #[test]
    fn what_is_missing_or_broken_is_named() {
        let folder = folder(&[("a/2.21.json", "{")]);
        let broken = read(folder.path(), None).unwrap_err().to_string();
        assert!(broken.contains("2.21.json"), "{broken}");
        let nowhere = read(&folder.path().join("none"), None).unwrap_err();
        assert!(nowhere.to_string().contains("no snapshot in"), "{nowhere}");
        let missing = read(folder.path(), Some("2.5".parse().unwrap())).unwrap_err();
        assert!(
            missing.to_string().contains("no snapshot of 2.5"),
            "{missing}"
        );
    }
}
