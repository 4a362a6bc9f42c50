//! IR files: one API per file, as a single file or in a folder.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sp_ir::Api;

use super::release::check_snapshot_target;
use super::{LoadedSide, OperandError, QuotedHeaders, ReadOptions, Result};
use sp_diff::Surface;
use sp_system::input;

/// Reads a file.
pub fn read_file(label: &str, path: &Path, options: ReadOptions<'_>) -> Result<LoadedSide> {
    side(label, vec![read(path)?], options)
}

/// Reads all files of a folder.
pub fn read_folder(label: &str, folder: &Path, options: ReadOptions<'_>) -> Result<LoadedSide> {
    let mut apis: BTreeMap<String, (PathBuf, Api)> = BTreeMap::new();
    for path in find_files(folder)? {
        let api = read(&path)?;
        let name = api.name.clone();
        if let Some((first, _)) = apis.insert(name.clone(), (path.clone(), api)) {
            return Err(OperandError::DuplicateApi {
                api: name,
                first,
                second: path,
            });
        }
    }
    let apis = apis.into_values().map(|(_, api)| api);
    side(label, apis.collect(), options)
}

/// Returns the `.json` files of a folder and of its subfolders, sorted.
pub fn find_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in entries(folder)? {
        match path.is_dir() {
            true => files.extend(entries(&path)?),
            false => files.push(path),
        }
    }
    let is_json = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    };
    files.retain(|path| is_json(path) && path.is_file());
    Ok(files)
}

fn side(label: &str, apis: Vec<Api>, options: ReadOptions<'_>) -> Result<LoadedSide> {
    check_snapshot_target(label, options.target)?;
    let surface = Surface {
        label: label.into(),
        apis,
        ..Surface::default()
    };
    let headers = QuotedHeaders::default();
    Ok(LoadedSide::from_snapshots(surface, headers))
}

fn read(path: &Path) -> Result<Api> {
    let text = input::read_text(path).map_err(|source| unreadable(path, source))?;
    Api::from_json(&text).map_err(|reason| OperandError::Malformed {
        path: path.to_owned(),
        reason,
    })
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = || -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
        let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    list().map_err(|source| unreadable(folder, source))
}

fn unreadable(path: &Path, source: io::Error) -> OperandError {
    OperandError::Unreadable {
        path: path.to_owned(),
        source,
    }
}
