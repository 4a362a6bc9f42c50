//! The snapshots a history is made of: the checkout's; elsewhere the binary's, and beside them
//! those that the user has imported.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use miette::{Context, IntoDiagnostic};
use sp_ir::Api;

use crate::diagnostic::Result;
use crate::embedded::SNAPSHOTS;
use crate::import::place::Place;

/// All snapshots that a command in `folder` sees.
///
/// # Errors
/// Where one cannot be read.
pub fn snapshots(folder: &Path) -> Result<Vec<Api>> {
    let place = Place::find(folder)?;
    let mut texts = on_disk(&place.snapshots).into_diagnostic()?;
    if place.inherits || texts.is_empty() {
        for (name, text) in SNAPSHOTS {
            let carried = || (*text).to_string();
            texts.entry((*name).into()).or_insert_with(carried);
        }
    }
    parse(&texts.into_iter().collect::<Vec<_>>())
}

/// `<api>/<minor>.json` to its text.
fn on_disk(folder: &Path) -> std::io::Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    if !folder.is_dir() {
        return Ok(texts);
    }
    for api in fs::read_dir(folder)? {
        let api = api?;
        if !api.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(api.path())? {
            let path = file?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                let name = path.strip_prefix(folder).unwrap_or(&path);
                let name = name.to_string_lossy().replace('\\', "/");
                texts.insert(name, fs::read_to_string(&path)?);
            }
        }
    }
    Ok(texts)
}

/// On two threads, since it is most of a history's time.
fn parse(texts: &[(String, String)]) -> Result<Vec<Api>> {
    let one = |(name, text): &(String, String)| {
        let api = Api::from_json(text).into_diagnostic();
        api.wrap_err_with(|| name.clone())
    };
    let half = |texts: &[(String, String)]| texts.iter().map(one).collect::<Result<Vec<_>>>();
    let (left, right) = texts.split_at(texts.len() / 2);
    let (left, right) = std::thread::scope(|scope| {
        let other = scope.spawn(|| half(left));
        let right = half(right);
        let left = other.join().unwrap_or_else(|_| half(left));
        (left, right)
    });
    let mut apis = left?;
    apis.extend(right?);
    Ok(apis)
}
