//! The committed IR that code is made from: `<folder>/<api>/<release>.json`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use sp_ir::{Api, SnapshotError};
use thiserror::Error;

use super::crew;
use crate::import::release::Release;

/// Why snapshots cannot be read.
#[derive(Debug, Error, Diagnostic)]
pub enum ReadError {
    /// There are none of that release, or none at all.
    #[error("there is no snapshot{} in {}", named(release), folder.display())]
    #[diagnostic(
        code(sp_gen::generate::no_snapshot),
        help("`sp-gen import tensorflow <RELEASE>` writes them")
    )]
    None {
        /// The folder.
        folder: PathBuf,
        /// The release that was asked for.
        release: Option<Release>,
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

/// Every API in every release up to `release`, or in all of them. Sorted by API, then by release.
///
/// # Errors
/// Where there is none of `release`, or none at all, or one cannot be read.
pub fn read(folder: &Path, release: Option<Release>) -> Result<Vec<Api>, ReadError> {
    let found = if folder.exists() {
        find(folder)?
    } else {
        Vec::new()
    };
    let wanted = release.map(Release::minor);
    let last = wanted.or(found.iter().map(|(release, _)| *release).max());
    if !found.iter().any(|(release, _)| Some(*release) == last) {
        let folder = folder.to_owned();
        return Err(ReadError::None { folder, release });
    }
    let chosen: Vec<_> = found
        .into_iter()
        .filter(|(release, _)| Some(*release) <= last)
        .map(|(_, path)| path)
        .collect();
    crew::each(&chosen, |path| snapshot(path))
        .into_iter()
        .collect()
}

/// The snapshots by API, then by release.
fn find(folder: &Path) -> Result<Vec<(Release, PathBuf)>, ReadError> {
    let mut found = Vec::new();
    for api in entries(folder)?.iter().filter(|path| path.is_dir()) {
        let snapshots = entries(api)?.into_iter();
        let mut releases: Vec<_> = snapshots
            .filter_map(|path| Some((release_of(&path)?, path)))
            .collect();
        releases.sort();
        found.extend(releases);
    }
    Ok(found)
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

fn snapshot(path: &Path) -> Result<Api, ReadError> {
    let text = fs::read_to_string(path).map_err(|source| unreadable(path, source))?;
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
