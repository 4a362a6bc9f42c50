//! IR files: one API each, alone or in a folder.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sp_ir::Api;

use super::release::of_snapshots;
use super::{Headers, OperandError, Reading, Result, Side};
use sp_diff::Surface;

/// A file.
pub fn file(label: &str, path: &Path, reading: Reading<'_>) -> Result<Side> {
    side(label, vec![read(path)?], reading)
}

/// All files of a folder.
pub fn folder(label: &str, folder: &Path, reading: Reading<'_>) -> Result<Side> {
    let mut apis: BTreeMap<String, (PathBuf, Api)> = BTreeMap::new();
    for path in files(folder)? {
        let api = read(&path)?;
        let name = api.name.clone();
        if let Some((first, _)) = apis.insert(name.clone(), (path.clone(), api)) {
            return Err(OperandError::Twice {
                api: name,
                first,
                second: path,
            });
        }
    }
    side(
        label,
        apis.into_values().map(|(_, api)| api).collect(),
        reading,
    )
}

/// The `.json` files of a folder and of the folders in it, sorted.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        match path.is_dir() {
            true => found.extend(entries(&path)?),
            false => found.push(path),
        }
    }
    found.retain(|path| path.extension().is_some_and(|one| one == "json") && path.is_file());
    Ok(found)
}

fn side(label: &str, apis: Vec<Api>, reading: Reading<'_>) -> Result<Side> {
    of_snapshots(label, reading.target)?;
    let surface = Surface {
        label: label.into(),
        apis,
        ..Surface::default()
    };
    let headers = Headers::default();
    Ok(Side::stored(surface, headers))
}

fn read(path: &Path) -> Result<Api> {
    let text = fs::read_to_string(path).map_err(|source| unreadable(path, source))?;
    Api::from_json(&text).map_err(|reason| OperandError::Malformed {
        path: path.to_owned(),
        reason,
    })
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = || -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(folder)?.map(|entry| entry.map(|it| it.path()));
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
