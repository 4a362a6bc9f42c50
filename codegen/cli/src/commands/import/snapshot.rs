//! Snapshots of a release: the IR of its headers, `<api>/<minor>.json`. Each file is replaced as a whole; the file of
//! an API that the release does not have is removed.

use super::changes::{self, ApiChange};
use crate::console::warning;
use miette::Diagnostic;
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_data::required_fields::{RequiredFields, RequiredFieldsError};
use sp_data::snapshots::{self, SnapshotReadError};
use sp_data::symbols::{Symbols, SymbolsError};
use sp_ir::Api;
use sp_parse::contract::ExcludedHeaders;
use sp_parse::contract::required_fields::{self, Contradictions};
use sp_parse::contract::{KnownNames, Notes};
use sp_parse::extract::{self, ExtractError, Extracted, Job};
use sp_system::input;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use thiserror::Error;

/// A failure to read or write the snapshots of a release.
#[derive(Debug, Error, Diagnostic)]
pub enum SnapshotError {
    /// libclang is absent, or headers or notes cannot be parsed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Extract(#[from] ExtractError),
    /// A table of exported symbols cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Symbols(#[from] SymbolsError),
    /// The snapshots of the previous release cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Read(#[from] SnapshotReadError),
    /// The fields that the release's libraries require cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    RequiredFields(#[from] RequiredFieldsError),
    /// A note contradicts the fields that the libraries require.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Contradicted(#[from] Contradictions),
    /// A snapshot cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    #[diagnostic(code(sp_gen::import::snapshot_unwritable))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Summary of the snapshots written for a release.
#[derive(Debug, Default)]
pub struct WrittenSnapshots {
    /// The files that were written, which are those that differed.
    pub files: Vec<PathBuf>,
    /// The files that were removed, which are those of APIs that the release does not have.
    pub removed: Vec<PathBuf>,
    /// The previous release and the changes since it, or `None` if no earlier release is known or nothing differed.
    pub changes: Option<(Release, Vec<ApiChange>)>,
}

/// Parses a release's headers.
///
/// # Errors
/// Returns an error if libclang is absent, or if headers, notes and the fields that libraries require contradict each
/// other.
pub fn read(
    include: &Path,
    release: Release,
    folders: &DataFolders,
) -> Result<Extracted, SnapshotError> {
    let name = release.key().to_string();
    let notes = Notes::all().map_err(ExtractError::from)?;
    let required = RequiredFields::read(folders, release)?.unwrap_or_default();
    // Nightly builds are always in the cache, also in a checkout.
    let is_cached = folders.extends_embedded || release.is_nightly();
    let mut extracted = match is_cached && !snapshots::is_embedded(release) {
        true => read_cached(include, release, folders, &notes)?,
        false => extract::extract_all_targets(include, &name)?,
    };
    match required_fields::annotate(&mut extracted.apis, &required, &notes) {
        Err(contradicted) if is_cached => {
            warning!("  {contradicted}; the fields that the libraries require take precedence");
        }
        annotated => annotated?,
    }
    snapshots::mark_preview(&mut extracted.apis, release);
    Ok(extracted)
}

/// Parses a release for the cache. Headers take precedence over notes, which the user cannot change.
fn read_cached(
    include: &Path,
    release: Release,
    folders: &DataFolders,
    notes: &[Notes],
) -> Result<Extracted, SnapshotError> {
    let excluded = ExcludedHeaders::embedded().map_err(ExtractError::from)?;
    let job = Job {
        notes,
        excluded: &excluded,
        known: &KnownNames::AtHand(snapshots::read_newest_before(folders, release)?),
        include_root: include,
        release: &release.key().to_string(),
        only: &[],
    };
    Ok(extract::extract_all_targets_with(&job)?)
}

/// Writes the snapshots that changed.
///
/// # Errors
/// Returns an error if a snapshot cannot be written.
pub fn write(
    extracted: &Extracted,
    release: Release,
    folders: &DataFolders,
) -> Result<WrittenSnapshots, SnapshotError> {
    let apis = &extracted.apis;
    let (minor, folder) = (release.key().to_string(), &folders.snapshots);
    let staged = stage_all(apis, &minor, folder)?;
    let changes = match staged.is_empty() {
        true => None,
        false => changes::since_previous(apis, release, folder, &Symbols::load(folders)?),
    };
    let files = persist_all(staged)?;
    let unread = extracted
        .unreadable
        .iter()
        .map(|unread| unread.api.as_str());
    let present: Vec<&str> = apis
        .iter()
        .map(|api| api.name.as_str())
        .chain(unread)
        .collect();
    let removed = remove_absent(&present, &minor, folder)?;
    Ok(WrittenSnapshots {
        files,
        removed,
        changes,
    })
}

/// Removes the release's snapshots of APIs that are not in `present`.
fn remove_absent(
    present: &[&str],
    minor: &str,
    folder: &Path,
) -> Result<Vec<PathBuf>, SnapshotError> {
    let is_present = |path: &Path| present.iter().any(|api| path.ends_with(api));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let absent = entries
        .map(|entry| entry.path())
        .filter(|path| !is_present(path));
    let stale = absent.map(|api| api.join(format!("{minor}.json")));
    let stale: Vec<PathBuf> = stale.filter(|path| path.is_file()).collect();
    for path in &stale {
        fs::remove_file(path).map_err(|source| unwritable(path, source))?;
    }
    Ok(stale)
}

/// A staged file with its target path.
type StagedFile = (NamedTempFile, PathBuf);

/// Stages the snapshots that differ from the files on disk. All are staged before the first rename.
fn stage_all(apis: &[Api], minor: &str, folder: &Path) -> Result<Vec<StagedFile>, SnapshotError> {
    let mut staged = Vec::new();
    for api in apis {
        let path = folder.join(&api.name).join(format!("{minor}.json"));
        let text = api.to_json();
        if input::read_text(&path).is_ok_and(|current| current == text) {
            continue;
        }
        let file = stage(&path, &text).map_err(|source| unwritable(&path, source))?;
        staged.push((file, path));
    }
    Ok(staged)
}

fn persist_all(staged: Vec<StagedFile>) -> Result<Vec<PathBuf>, SnapshotError> {
    let persist = |(file, path): StagedFile| match file.persist(&path) {
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
    fn writes_only_changed_snapshots() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("demo/2.21.json");
        let written = write_all(scratch.path()).unwrap();
        assert_eq!(written, std::slice::from_ref(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), apis()[0].to_json());
        assert!(write_all(scratch.path()).unwrap().is_empty());
    }

    #[test]
    fn removes_only_snapshots_of_absent_apis() {
        let scratch = tempfile::tempdir().unwrap();
        for path in ["demo/2.21.json", "lost/2.21.json", "lost/2.20.json"] {
            let path = scratch.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        let removed = remove_absent(&["demo"], "2.21", scratch.path()).unwrap();
        assert_eq!(removed, [scratch.path().join("lost/2.21.json")]);
        assert!(!removed[0].exists());
        assert!(scratch.path().join("lost/2.20.json").exists());
    }

    #[test]
    fn failed_write_leaves_no_staged_file() {
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
