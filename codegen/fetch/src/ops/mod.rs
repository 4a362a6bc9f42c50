//! Imports the op definitions of an installed TensorFlow into the table of ops. A process of its own loads TensorFlow's
//! library and writes what `TF_GetAllOpList` returns to a file.
//!
//! The process loads TensorFlow's library with ctypes and imports nothing of TensorFlow (`op_list.py`). Its answer is
//! bounded, decoded by prost (`message`), converted (`convert`) and checked (`sp_ops::ReleaseOps`).

mod convert;
mod error;
mod message;
#[cfg(test)]
mod tests;

pub use error::OpImportError;

use crate::error::FetchError;
use crate::exclusive::ExclusiveLock;
use error::printable;
use prost::Message;
use sp_data::folders::DataFolders;
use sp_data::ops::read_registry;
use sp_data::release::{Release, RequestedRelease};
use sp_ops::{OpDef, Registry, ReleaseOps, Table};
use sp_system::child::{Finished, Script, run_script};
use sp_system::replacement::TableFile;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

const OP_LIST: &str = include_str!("op_list.py");

/// The largest op list. That of 2.21 has 0.4 MB; decoding takes about a hundred times the bytes in memory.
const LIST_BYTES: u64 = 4 << 20;

/// The largest first line of an answer.
const LINE_BYTES: u64 = 1 << 12;

/// Loading TensorFlow from a cold disk takes a minute.
const TIME: Duration = Duration::from_secs(300);

/// TensorFlow's own lines are of no interest.
const VARIABLES: [(&str, &str); 1] = [("TF_CPP_MIN_LOG_LEVEL", "3")];

/// A request to import the ops of an installed TensorFlow.
#[derive(Debug, Clone)]
pub struct OpImportRequest {
    /// The Python that has TensorFlow: a path, or a name in `PATH`.
    pub python: PathBuf,
    /// The release that it must have.
    pub release: Option<RequestedRelease>,
    /// The folders of the checkout or cache.
    pub folders: DataFolders,
}

/// Summary of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedOps {
    /// The exact version.
    pub version: Release,
    /// The number of ops.
    pub ops: usize,
    /// The previous release in the table, if there is one.
    pub previous: Option<Release>,
    /// The ops that the previous release does not have.
    pub added: Vec<String>,
    /// The ops that only the previous release has.
    pub removed: Vec<String>,
    /// The ops whose definitions differ from the previous release's.
    pub changed: Vec<String>,
    /// The table.
    pub table: PathBuf,
    /// True if the table was written; false if it was up to date.
    pub is_written: bool,
}

/// Imports the ops of an installed TensorFlow.
///
/// # Errors
/// Returns an error if the Python has no TensorFlow of a supported release, if its op definitions are malformed, or if
/// the table cannot be written. The table is then unchanged.
pub fn import(request: &OpImportRequest) -> Result<ImportedOps, OpImportError> {
    let (version, list) = list_ops(&request.python)?;
    check_release(version, request)?;
    let ops = decode(version, &list)?;
    let folders = request.folders.clone().for_release(version)?;
    let _lock = ExclusiveLock::acquire(&folders.ops)?;
    let folder = folders.ops.parent().unwrap_or(&folders.ops);
    let table = TableFile::recover(folder, &folders.ops).map_err(FetchError::from)?;
    let mut registry = read_registry(&folders)?;
    check_not_superseded(version, &registry, &folders.ops)?;
    registry.insert(ops);
    let is_written = write(&table, registry.to_text())?;
    Ok(summary(version, &registry, folders.ops, is_written))
}

/// Returns the version of the Python's TensorFlow and its serialized op list.
fn list_ops(python: &Path) -> Result<(Release, Vec<u8>), OpImportError> {
    let name = printable(&python.display().to_string());
    let script = Script {
        source: OP_LIST,
        arguments: &[&LIST_BYTES.to_string()],
        variables: &VARIABLES,
        time: TIME,
        answer_bytes: LINE_BYTES + LIST_BYTES,
    };
    let finished = run_script(python, &script).map_err(|source| OpImportError::NoPython {
        python: name.clone(),
        source,
    })?;
    let answer = answer(&finished).map_err(|detail| OpImportError::NoAnswer {
        python: name.clone(),
        detail,
    })?;
    match answer {
        ("tensorflow", version, list) => Ok((parse_version(&version)?, list.to_vec())),
        ("absent", detail, _) => Err(OpImportError::NoTensorFlow {
            python: name,
            detail,
        }),
        (_, detail, _) => Err(OpImportError::NotListed {
            python: name,
            detail,
        }),
    }
}

/// Splits an answer into the kind and the text of its first line, and the bytes after it.
fn answer(finished: &Finished) -> Result<(&str, String, &[u8]), String> {
    let bytes = finished
        .answer
        .as_ref()
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => describe_end(finished),
            _ => format!("its answer cannot be read: {error}"),
        })?;
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (line, rest) = end
        .map(|end| (&bytes[..end], &bytes[end + 1..]))
        .unwrap_or_default();
    let line = std::str::from_utf8(line).ok();
    match line.and_then(|line| line.split_once(' ')) {
        Some((kind @ ("tensorflow" | "absent" | "failed"), text)) => {
            Ok((kind, printable(text), rest))
        }
        _ => Err(format!(
            "its answer is malformed; {}",
            describe_end(finished)
        )),
    }
}

/// Returns how the process ended, and its last line.
fn describe_end(finished: &Finished) -> String {
    let mut last = finished.stderr.lines().rev();
    let last = last.find(|line| !line.trim().is_empty());
    let last = last.map(|line| format!(": {}", printable(line)));
    format!("{}{}", finished.end, last.unwrap_or_default())
}

fn parse_version(text: &str) -> Result<Release, OpImportError> {
    let version = text.parse::<Release>().ok();
    let is_exact = |it: &Release| it.patch.is_some() && *it >= Release::FIRST_SUPPORTED;
    version
        .filter(is_exact)
        .ok_or_else(|| OpImportError::Unsupported(text.to_owned()))
}

/// Returns an error if the installed version is not the requested release.
fn check_release(version: Release, request: &OpImportRequest) -> Result<(), OpImportError> {
    let is_requested = match request.release {
        None => true,
        Some(RequestedRelease::Nightly) => version.is_nightly(),
        Some(RequestedRelease::Version(release)) => release.newest_match([version]).is_some(),
    };
    match (is_requested, request.release) {
        (false, Some(requested)) => Err(OpImportError::OtherRelease {
            python: printable(&request.python.display().to_string()),
            version,
            requested: requested.to_string(),
        }),
        _ => Ok(()),
    }
}

/// Decodes an op list.
fn decode(version: Release, list: &[u8]) -> Result<ReleaseOps, OpImportError> {
    let list = message::OpList::decode(list);
    let list = list.map_err(|error| OpImportError::malformed(version, error))?;
    if list.op.is_empty() {
        return Err(OpImportError::malformed(version, "there are none"));
    }
    let ops: Result<Vec<OpDef>, _> = list.op.into_iter().map(convert::convert).collect();
    ops.and_then(|ops| ReleaseOps::new(version, ops))
        .map_err(|invalid| OpImportError::malformed(version, invalid))
}

/// Returns an error if the table has a newer version of the same release.
fn check_not_superseded(
    version: Release,
    registry: &Registry,
    table: &Path,
) -> Result<(), OpImportError> {
    let known = registry.releases().get(&version.key());
    match known.filter(|known| known.version > version) {
        Some(known) => Err(OpImportError::Superseded {
            version,
            newest: known.version,
            table: table.display().to_string(),
        }),
        None => Ok(()),
    }
}

/// Writes the table. Returns false if the file has the same text already.
fn write(table: &TableFile, text: String) -> Result<bool, FetchError> {
    if table.text() == Some(&text) {
        return Ok(false);
    }
    table.check(|text| {
        let parsed = Table::parse(text.to_owned());
        parsed.is_ok_and(|parsed| Registry::from_table(&parsed).to_text() == text)
    })?;
    table.replace(text)?.commit()?;
    Ok(true)
}

/// Compares a release with the one before it.
fn summary(version: Release, registry: &Registry, table: PathBuf, is_written: bool) -> ImportedOps {
    let releases = registry.releases();
    let none = BTreeMap::new();
    let ops = releases.get(&version.key()).map_or(&none, |it| &it.ops);
    let previous = releases.range(..version.key()).next_back();
    let old = previous.map_or(&none, |(_, it)| &it.ops);
    let names = |keep: &dyn Fn(&str) -> bool, ops: &BTreeMap<String, OpDef>| {
        let names = ops.keys().filter(|name| keep(name));
        names.cloned().collect::<Vec<String>>()
    };
    let is_changed = |name: &str| old.get(name).is_some_and(|it| Some(it) != ops.get(name));
    ImportedOps {
        version,
        ops: ops.len(),
        previous: previous.map(|(_, it)| it.version),
        added: names(&|name| !old.contains_key(name), ops),
        removed: names(&|name| !ops.contains_key(name), old),
        changed: names(&is_changed, ops),
        table,
        is_written,
    }
}
