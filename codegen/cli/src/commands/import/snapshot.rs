//! What a release's stored headers declare, as IR: `<api>/<minor>.json`, each replaced whole. An API
//! that the release lacks has none.

use super::changes::{self, Change};
use crate::console::warning;
use miette::Diagnostic;
use sp_data::demands::{Demands, DemandsError};
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_data::snapshots::{self, SnapshotReadError};
use sp_data::symbols::{Symbols, SymbolsError};
use sp_ir::Api;
use sp_parse::contract::ExcludedHeaders;
use sp_parse::contract::demands::{self, Contradictions};
use sp_parse::contract::{KnownNames, Notes};
use sp_parse::extract::{self, ExtractError, Extracted, Job};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use thiserror::Error;

/// Why there are no new snapshots; the headers are stored all the same.
#[derive(Debug, Error, Diagnostic)]
pub enum SnapshotError {
    /// libclang is missing, or the headers or notes do not fit.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Extract(#[from] ExtractError),
    /// A table of exported symbols is damaged.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Symbols(#[from] SymbolsError),
    /// The snapshots of the release before cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Read(#[from] SnapshotReadError),
    /// The requirements of the release's libraries cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Demands(#[from] DemandsError),
    /// A note is contradicted by what they demand.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Contradicted(#[from] Contradictions),
    /// A snapshot cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    #[diagnostic(code(sp_gen::import::snapshot_unwritable))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What became of a release's snapshots.
#[derive(Debug, Default)]
pub struct Written {
    /// The files that were written: those that differed.
    pub files: Vec<PathBuf>,
    /// The files that were removed: those of APIs that the release lacks.
    pub removed: Vec<PathBuf>,
    /// The release before, and how each API differs from it; nothing where no such release is known.
    pub changes: Option<(Release, Vec<Change>)>,
}

/// What a release's headers declare.
///
/// # Errors
/// Returns an error if libclang is missing, or the headers, the notes and what the libraries demand do
/// not fit.
pub fn read(
    include: &Path,
    release: Release,
    place: &DataFolders,
) -> Result<Extracted, SnapshotError> {
    let name = release.key().to_string();
    let notes = Notes::all().map_err(ExtractError::from)?;
    let demands = Demands::read(place, release)?.unwrap_or_default();
    // Nightly builds are in the cache wherever the command runs.
    let is_cached = place.extends_embedded || release.is_nightly();
    let mut extracted = match is_cached && !snapshots::is_embedded(release) {
        true => cached(include, release, place, &notes)?,
        false => extract::extract_all_targets(include, &name)?,
    };
    match demands::annotate(&mut extracted.apis, &demands, &notes) {
        Err(contradicted) if is_cached => {
            warning!("  {contradicted}; the libraries are taken to be right");
        }
        annotated => annotated?,
    }
    snapshots::mark_preview(&mut extracted.apis, release);
    Ok(extracted)
}

/// Reads a release into the cache, whose owner cannot change the notes: headers take precedence.
fn cached(
    include: &Path,
    release: Release,
    place: &DataFolders,
    notes: &[Notes],
) -> Result<Extracted, SnapshotError> {
    let excluded = ExcludedHeaders::embedded().map_err(ExtractError::from)?;
    let job = Job {
        notes,
        excluded: &excluded,
        known: &KnownNames::AtHand(snapshots::read_newest_before(place, release)?),
        include_root: include,
        release: &release.key().to_string(),
        only: &[],
    };
    Ok(extract::extract_all_targets_with(&job)?)
}

/// Writes the snapshots that changed.
///
/// # Errors
/// Where one cannot be written.
pub fn write(
    extracted: &Extracted,
    release: Release,
    place: &DataFolders,
) -> Result<Written, SnapshotError> {
    let apis = &extracted.apis;
    let (minor, folder) = (release.key().to_string(), &place.snapshots);
    let staged = stage_all(apis, &minor, folder)?;
    let changes = match staged.is_empty() {
        true => None,
        false => changes::since_last(apis, release, folder, &Symbols::load(place)?),
    };
    let files = persist_all(staged)?;
    let unread = extracted.unreadable.iter().map(|one| one.api.as_str());
    let kept: Vec<&str> = apis
        .iter()
        .map(|api| api.name.as_str())
        .chain(unread)
        .collect();
    let removed = remove_others(&kept, &minor, folder)?;
    Ok(Written {
        files,
        removed,
        changes,
    })
}

/// Removes the release's snapshots of APIs that it has no more.
fn remove_others(kept: &[&str], minor: &str, folder: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
    let is_here = |path: &Path| kept.iter().any(|api| path.ends_with(api));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let others = entries
        .map(|entry| entry.path())
        .filter(|path| !is_here(path));
    let stale = others.map(|api| api.join(format!("{minor}.json")));
    let stale: Vec<PathBuf> = stale.filter(|path| path.is_file()).collect();
    for path in &stale {
        fs::remove_file(path).map_err(|source| unwritable(path, source))?;
    }
    Ok(stale)
}

/// A file beside the place that it is for.
type Staged = (NamedTempFile, PathBuf);

/// All that differ from what is there, or none where one fails: the first rename comes after.
fn stage_all(apis: &[Api], minor: &str, folder: &Path) -> Result<Vec<Staged>, SnapshotError> {
    let mut staged = Vec::new();
    for api in apis {
        let path = folder.join(&api.name).join(format!("{minor}.json"));
        let text = api.to_json();
        if fs::read_to_string(&path).is_ok_and(|there| there == text) {
            continue;
        }
        let file = stage(&path, &text).map_err(|source| unwritable(&path, source))?;
        staged.push((file, path));
    }
    Ok(staged)
}

fn persist_all(staged: Vec<Staged>) -> Result<Vec<PathBuf>, SnapshotError> {
    let persist = |(file, path): Staged| match file.persist(&path) {
        Ok(_) => Ok(path),
        Err(error) => Err(unwritable(&path, error.error)),
    };
    staged.into_iter().map(persist).collect()
}

fn stage(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = sp_system::temporary::staged_file(folder)?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

fn unwritable(path: &Path, source: io::Error) -> SnapshotError {
    SnapshotError::Unwritable {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_all(folder: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
        persist_all(stage_all(&apis(), "2.21", folder)?)
    }

    fn apis() -> Vec<Api> {
        let text = r#"{"schema": 1, "name": "demo", "release": "2.21", "items": {}}"#;
        vec![Api::from_json(text).unwrap()]
    }

    #[test]
    fn only_what_changed_is_written() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("demo/2.21.json");
        let written = write_all(scratch.path()).unwrap();
        assert_eq!(written, std::slice::from_ref(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), apis()[0].to_json());
        assert!(write_all(scratch.path()).unwrap().is_empty());
    }

    #[test]
    fn what_the_release_lacks_goes_and_other_releases_stay() {
        let scratch = tempfile::tempdir().unwrap();
        for path in ["demo/2.21.json", "lost/2.21.json", "lost/2.20.json"] {
            let path = scratch.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        let removed = remove_others(&["demo"], "2.21", scratch.path()).unwrap();
        assert_eq!(removed, [scratch.path().join("lost/2.21.json")]);
        assert!(!removed[0].exists());
        assert!(scratch.path().join("lost/2.20.json").exists());
    }

    #[test]
    fn a_folder_in_the_way_is_named_and_leaves_no_staged_file() {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir_all(scratch.path().join("demo/2.21.json/x")).unwrap();
        let error = write_all(scratch.path()).unwrap_err();
        assert!(error.to_string().contains("demo/2.21.json"), "{error}");
        assert_eq!(
            fs::read_dir(scratch.path().join("demo")).unwrap().count(),
            1
        );
    }
}
