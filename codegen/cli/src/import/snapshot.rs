//! What a release's stored headers declare, as IR: `<api>/<minor>.json`, each replaced whole.

use super::changes::{self, Change};
use super::release::Release;
use crate::extract::ExtractError;
use miette::Diagnostic;
use sp_ir::Api;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why there are no new snapshots; the headers are stored all the same.
#[derive(Debug, Error, Diagnostic)]
pub enum SnapshotError {
    /// libclang is missing, or the headers or notes do not fit.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Extract(#[from] ExtractError),
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
    /// The release before, and how each API differs from it; nothing where no such release is known.
    pub changes: Option<(Release, Vec<Change>)>,
}

/// Reads the headers and writes the snapshots that changed.
pub fn write(include: &Path, release: Release, folder: &Path) -> Result<Written, SnapshotError> {
    let minor = release.minor().to_string();
    let apis = crate::extract::complete(include, &minor)?;
    let changes = changes::since_last(&apis, release, folder);
    let files = write_all(&apis, &minor, folder)?;
    Ok(Written { files, changes })
}

/// Writes all or, where one fails beforehand, none: every file is staged before the first rename.
fn write_all(apis: &[Api], minor: &str, folder: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
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
    let persist = |(file, path): (tempfile::NamedTempFile, PathBuf)| match file.persist(&path) {
        Ok(_) => Ok(path),
        Err(error) => Err(unwritable(&path, error.error)),
    };
    staged.into_iter().map(persist).collect()
}

fn stage(path: &Path, text: &str) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = super::store::staged_file(folder)?;
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

    fn apis() -> Vec<Api> {
        let text = r#"{"schema": 1, "name": "demo", "release": "2.21", "items": {}}"#;
        vec![Api::from_json(text).unwrap()]
    }

    #[test]
    fn only_what_changed_is_written() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("demo/2.21.json");
        let written = write_all(&apis(), "2.21", scratch.path()).unwrap();
        assert_eq!(written, std::slice::from_ref(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), apis()[0].to_json());
        assert!(
            write_all(&apis(), "2.21", scratch.path())
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn a_folder_in_the_way_is_named_and_leaves_no_staged_file() {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir_all(scratch.path().join("demo/2.21.json/x")).unwrap();
        let error = write_all(&apis(), "2.21", scratch.path()).unwrap_err();
        assert!(error.to_string().contains("demo/2.21.json"), "{error}");
        assert_eq!(
            fs::read_dir(scratch.path().join("demo")).unwrap().count(),
            1
        );
    }
}
