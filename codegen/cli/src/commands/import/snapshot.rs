//! Snapshots of a release: the IR of its headers, `<api>/<minor>.json`. All are replaced or none. The file of an API that
//! the release does not have is removed, if no header can be absent from the source of the import.
//!
//! A file is replaced or removed only if it is what sp-gen prints for the snapshot in it: nobody has edited it.

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
use sp_system::errors;
use sp_system::replacement::{Change, Replacement, ReplacementError, TableFile, existing_folder};
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

errors! {
    /// A failure to read or write the snapshots of a release.
    #[derive(Debug, Error, Diagnostic)]
    pub enum SnapshotError in import {
        /// libclang is absent, or headers or notes cannot be parsed.
        Extract(ExtractError) = transparent;

        /// A table of exported symbols cannot be read.
        Symbols(SymbolsError) = transparent;

        /// The snapshots of the previous release cannot be read.
        Read(SnapshotReadError) = transparent;

        /// The fields that the release's libraries require cannot be read.
        RequiredFields(RequiredFieldsError) = transparent;

        /// A note contradicts the fields that the libraries require.
        Contradicted(Contradictions) = transparent;

        /// A snapshot cannot be replaced.
        Replacement(ReplacementError) = transparent;
    }
}

/// Summary of the snapshots written for a release.
#[derive(Debug, Default)]
pub struct WrittenSnapshots {
    /// The files that were written, which are those that differed.
    pub files: Vec<PathBuf>,
    /// The files that were removed, which are those of APIs that the release does not have.
    pub removed: Vec<PathBuf>,
    /// The files of such APIs that were not removed, since the source may lack headers.
    pub left_alone: Vec<PathBuf>,
    /// The files at the paths of such snapshots that sp-gen did not write, or that were edited. They were not removed.
    pub foreign: Vec<PathBuf>,
    /// The previous release and the changes since it, or `None` if no earlier release is known or nothing differed.
    pub changes: Option<(Release, Vec<ApiChange>)>,
    /// Undoes the changes when it is dropped.
    replacement: Option<Replacement>,
}

impl WrittenSnapshots {
    /// Makes the changes permanent.
    ///
    /// # Errors
    /// Returns an error if the folders cannot be synchronized. The changes are undone then.
    pub fn commit(&mut self) -> Result<(), SnapshotError> {
        let replacement = self.replacement.take();
        Ok(replacement.map_or(Ok(()), Replacement::commit)?)
    }
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

/// Writes the snapshots that changed. Unless the source `is_complete`, removes none. Dropping the result undoes the
/// changes, unless it is committed.
///
/// # Errors
/// Returns an error if a snapshot cannot be written. All are unchanged then.
pub fn write(
    extracted: &Extracted,
    release: Release,
    folders: &DataFolders,
    is_complete: bool,
) -> Result<WrittenSnapshots, SnapshotError> {
    let (minor, folder) = (release.key().to_string(), &folders.snapshots);
    let mut changed = changed_snapshots(&extracted.apis, &minor, folder)?;
    let changes = match changed.is_empty() {
        true => None,
        false => {
            changes::since_previous(&extracted.apis, release, folder, &Symbols::load(folders)?)
        }
    };
    let files = changed.iter().map(|(path, _)| path.clone()).collect();
    let read = extracted.apis.iter().map(|api| api.name.as_str());
    let unread = extracted.unreadable.iter().map(|it| it.api.as_str());
    let present: Vec<&str> = read.chain(unread).collect();
    let absent = absent_snapshots(&present, &minor, folder);
    let (own, foreign): (Vec<_>, Vec<_>) = absent.into_iter().partition(|(_, file)| file.is_some());
    let paths = |found: &[(PathBuf, _)]| found.iter().map(|(path, _)| path.clone()).collect();
    let (removed, left_alone) = match is_complete {
        true => (paths(&own), Vec::new()),
        false => (Vec::new(), paths(&own)),
    };
    for (path, file) in own.into_iter().filter(|_| is_complete) {
        let change = file.map(|file| file.change(None)).transpose()?;
        changed.extend(change.map(|change| (path, change)));
    }
    Ok(WrittenSnapshots {
        replacement: replace(folder, changed)?,
        files,
        removed,
        left_alone,
        foreign: paths(&foreign),
        changes,
    })
}

/// Returns the paths of the release's snapshots of APIs that are not in `present`, each with its file if sp-gen wrote it.
fn absent_snapshots(
    present: &[&str],
    minor: &str,
    folder: &Path,
) -> Vec<(PathBuf, Option<TableFile>)> {
    let is_present = |path: &Path| present.iter().any(|api| path.ends_with(api));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let absent = entries
        .map(|entry| entry.path())
        .filter(|path| !is_present(path));
    let files = absent.map(|api| api.join(format!("{minor}.json")));
    let files = files.filter(|path| path.symlink_metadata().is_ok());
    let own = |path: &Path| {
        let api = path.parent().filter(|api| !api.is_symlink())?;
        let file = TableFile::read(folder, path).ok()?;
        let name = api.file_name()?.to_str()?;
        let checked = file.check(|text| is_printed(text, name, minor));
        checked.is_ok().then_some(file)
    };
    files.map(|path| (path.clone(), own(&path))).collect()
}

/// Returns true if `text` is what sp-gen prints for the snapshot in it, and if that is of the API and release of its path.
fn is_printed(text: &str, api: &str, minor: &str) -> bool {
    let parsed = Api::from_json(text);
    parsed.is_ok_and(|it| it.name == api && it.release == minor && it.to_json() == text)
}

/// Returns the path and the change of each snapshot that differs from the file on disk.
fn changed_snapshots(
    apis: &[Api],
    minor: &str,
    folder: &Path,
) -> Result<Vec<(PathBuf, Change)>, SnapshotError> {
    let mut changed = Vec::new();
    for api in apis {
        let path = folder.join(&api.name).join(format!("{minor}.json"));
        let (file, text) = (TableFile::read(folder, &path)?, api.to_json());
        if file.text() != Some(&text) {
            file.check(|old| is_printed(old, &api.name, minor))?;
            changed.push((path, file.change(Some(text))?));
        }
    }
    Ok(changed)
}

/// Applies the changes. Returns `None` if there are none.
fn replace(
    folder: &Path,
    changed: Vec<(PathBuf, Change)>,
) -> Result<Option<Replacement>, SnapshotError> {
    let (root, _) = existing_folder(folder)?;
    let changes: Vec<Change> = changed.into_iter().map(|(_, change)| change).collect();
    match changes.is_empty() {
        true => Ok(None),
        false => Ok(Some(Replacement::apply(&root, &changes)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extracted() -> Extracted {
        Extracted {
            apis: apis(),
            ..Extracted::default()
        }
    }

    fn folders(folder: &Path) -> DataFolders {
        DataFolders {
            snapshots: folder.to_owned(),
            ..DataFolders::without_cache()
        }
    }

    fn write_in(folder: &Path, is_complete: bool) -> Result<WrittenSnapshots, SnapshotError> {
        let release = "2.21".parse().unwrap();
        let mut written = write(&extracted(), release, &folders(folder), is_complete)?;
        written.commit()?;
        Ok(written)
    }

    /// Writes snapshots at the paths, which sp-gen could have written from other headers.
    fn write_files(folder: &Path, files: &[&str]) {
        for file in files {
            write_text(folder, file, &older_text(file));
        }
    }

    fn write_text(folder: &Path, file: &str, text: &str) {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the text of a snapshot of the API and release of its path.
    fn older_text(file: &str) -> String {
        let (api, release) = file.strip_suffix(".json").unwrap().split_once('/').unwrap();
        let mut older = Api::new(api, release, Default::default());
        older.version = Some("0.1".into());
        older.to_json()
    }

    fn apis() -> Vec<Api> {
        let text = r#"{"schema": 1, "name": "demo", "release": "2.21", "items": {}}"#;
        vec![Api::from_json(text).unwrap()]
    }

    #[test]
    fn writes_only_changed_snapshots() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("demo/2.21.json");
        let written = write_in(scratch.path(), true).unwrap();
        assert_eq!(written.files, std::slice::from_ref(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), apis()[0].to_json());
        let again = write_in(scratch.path(), true).unwrap();
        assert!(again.files.is_empty());
    }

    #[test]
    fn replaces_older_snapshot_and_no_edited_one() {
        let scratch = tempfile::tempdir().unwrap();
        let file = "demo/2.21.json";
        write_files(scratch.path(), &[file]);
        assert_eq!(write_in(scratch.path(), true).unwrap().files.len(), 1);
        for text in [
            "notes".to_owned(),
            format!("{}\n", older_text(file)),
            older_text(file).replace("\"name\"", "\"notes\":\"own\",\n\"name\""),
            older_text("other/2.21.json"),
            older_text("demo/2.20.json"),
        ] {
            write_text(scratch.path(), file, &text);
            write_files(scratch.path(), &["lost/2.21.json"]);
            let error = write_in(scratch.path(), true).unwrap_err();
            let expected = "demo/2.21.json differs from what sp-gen wrote";
            assert!(error.to_string().ends_with(expected), "{error}");
            assert_eq!(fs::read_to_string(scratch.path().join(file)).unwrap(), text);
            assert!(scratch.path().join("lost/2.21.json").exists());
        }
    }

    #[cfg(unix)]
    #[test]
    fn replaces_no_link_and_no_pipe() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("demo/2.21.json");
        write_files(scratch.path(), &["demo/2.20.json"]);
        let target = scratch.path().join("demo/2.20.json");
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(write_in(scratch.path(), true).is_err());
        assert!(path.is_symlink());
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let error = write_in(scratch.path(), true).unwrap_err().to_string();
        assert!(error.ends_with("is not a regular file"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn removes_no_file_that_sp_gen_did_not_write() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let texts = [
            ("mine/2.21.json", "my own data".to_owned()),
            ("lost/2.21.json", older_text("lost/2.21.json") + "\n"),
            ("copied/2.21.json", older_text("lost/2.21.json")),
        ];
        for (file, text) in &texts {
            write_text(folder, file, text);
        }
        write_files(folder, &["target/2.20.json", "real/2.21.json"]);
        fs::create_dir(folder.join("linked")).unwrap();
        let link = std::os::unix::fs::symlink;
        link(
            folder.join("target/2.20.json"),
            folder.join("linked/2.21.json"),
        )
        .unwrap();
        link(folder.join("real"), folder.join("folder")).unwrap();
        let written = write_in(folder, true).unwrap();
        assert_eq!(written.removed, [folder.join("real/2.21.json")]);
        let mut foreign = written.foreign;
        foreign.sort();
        let names = ["copied", "folder", "linked", "lost", "mine"];
        let expected = names.map(|name| folder.join(name).join("2.21.json"));
        assert_eq!(foreign, expected);
        for (file, text) in &texts {
            assert_eq!(fs::read_to_string(folder.join(file)).unwrap(), *text);
        }
        assert!(folder.join("linked/2.21.json").is_symlink());
    }

    #[test]
    fn removes_only_snapshots_of_absent_apis() {
        let scratch = tempfile::tempdir().unwrap();
        write_files(scratch.path(), &["lost/2.21.json", "lost/2.20.json"]);
        let written = write_in(scratch.path(), true).unwrap();
        assert_eq!(written.removed, [scratch.path().join("lost/2.21.json")]);
        assert!(!written.removed[0].exists());
        assert!(scratch.path().join("lost/2.20.json").exists());
    }

    #[test]
    fn removes_no_snapshot_if_source_may_lack_headers() {
        let scratch = tempfile::tempdir().unwrap();
        write_files(scratch.path(), &["lost/2.21.json"]);
        let written = write_in(scratch.path(), false).unwrap();
        assert!(written.removed.is_empty());
        assert_eq!(written.left_alone, [scratch.path().join("lost/2.21.json")]);
        assert!(written.left_alone[0].exists());
    }

    #[test]
    fn snapshots_that_are_not_committed_are_undone() {
        let scratch = tempfile::tempdir().unwrap();
        write_files(scratch.path(), &["demo/2.21.json", "lost/2.21.json"]);
        let release = "2.21".parse().unwrap();
        let written = write(&extracted(), release, &folders(scratch.path()), true).unwrap();
        assert!(!scratch.path().join("lost/2.21.json").exists());
        drop(written);
        for path in ["demo/2.21.json", "lost/2.21.json"] {
            let text = fs::read_to_string(scratch.path().join(path)).unwrap();
            assert_eq!(text, older_text(path));
        }
    }

    #[test]
    fn failed_write_leaves_no_staged_file() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("demo"), "a file").unwrap();
        let error = write_in(scratch.path(), true).unwrap_err();
        assert!(error.to_string().contains("demo"), "{error}");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }
}
