//! The operands OLD and NEW of the command line: a release, an IR file, a folder of IR files, an include root, a wheel, or
//! an installed TensorFlow. Each is read as a [`Surface`].
//!
//! Reading an operand writes temporary files only.

mod error;
mod exports;
mod headers;
mod release;
mod snapshot;
mod tree;

use std::path::{Path, PathBuf};
use std::thread;

pub use error::OperandError;
pub use headers::QuotedHeaders;
pub use release::{resolve, unknown_release};
pub use tree::release_of_headers;

use crate::console::note;
use error::OPERANDS;
use sp_data::embedded::SNAPSHOTS;
use sp_data::folders::DataFolders;
use sp_data::release::{Release, RequestedRelease};
use sp_data::suggest;
use sp_diff::Surface;
use sp_parse::extract::UnreadableApi;
use sp_parse::source::include_root;

/// Returns the current folder.
///
/// # Errors
/// Returns an error if it was removed, or cannot be read.
pub fn current_folder() -> miette::Result<PathBuf> {
    std::env::current_dir().map_err(|error| {
        miette::miette!(
            code = "sp_gen::current_folder",
            help = "it may have been removed: change to another folder",
            "cannot determine the current folder: {error}"
        )
    })
}

/// Returns the data folders for a command that runs in `folder` and only reads. Without a cache folder, only the data in
/// the binary is available.
pub fn readable_folders(folder: &Path) -> DataFolders {
    let unreadable = match DataFolders::find(folder) {
        Ok(found) => match found.problem_of_cache() {
            Some(problem) => problem,
            None => return found,
        },
        Err(_) => "neither XDG_CACHE_HOME nor HOME is set".to_owned(),
    };
    note!("{unreadable}: imported releases are not read");
    DataFolders::without_cache()
}

type Result<T> = std::result::Result<T, OperandError>;

/// OLD or NEW.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// The text of the command line.
    label: String,
    kind: OperandKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum OperandKind {
    Release(RequestedRelease),
    Snapshot(PathBuf),
    SnapshotFolder(PathBuf),
    Wheel(PathBuf),
    /// An include root, or a folder that has one: an environment, `site-packages` or `tensorflow`.
    IncludeRoot(PathBuf),
}

/// An operand that was read.
#[derive(Debug)]
pub struct LoadedSide {
    /// The declarations and exports.
    pub surface: Surface,
    /// The headers that a report can quote.
    pub headers: QuotedHeaders,
    /// The APIs whose headers cannot be read.
    pub unread: Vec<UnreadableApi>,
    /// The release that the side states.
    pub release: Option<Release>,
    /// True if headers were parsed, and not snapshots read. Then only [`ReadOptions::apis`] are complete, unless that is
    /// empty.
    pub is_parsed: bool,
}

impl LoadedSide {
    /// Returns a side whose APIs were read from snapshots.
    fn from_snapshots(surface: Surface, headers: QuotedHeaders) -> Self {
        let api = surface.apis.first();
        let release = api.map(|api| api.preview.as_ref().unwrap_or(&api.release));
        Self {
            release: release.and_then(|release| release.parse().ok()),
            surface,
            headers,
            unread: Vec::new(),
            is_parsed: false,
        }
    }
}

/// The sources and the target for reading operands.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions<'a> {
    /// The folders of snapshots, symbols and stored headers.
    pub folders: &'a DataFolders,
    /// The target triple.
    pub target: &'a str,
    /// The APIs whose headers are parsed; all if empty.
    pub apis: &'a [String],
}

impl Operand {
    /// Parses an operand of the command line.
    ///
    /// # Errors
    /// Returns an error if the text is neither a release nor an existing file or folder of a known kind.
    pub fn parse(text: &str) -> Result<Self> {
        let path = Path::new(text);
        let kind = match text.parse() {
            Ok(release) if !path.exists() => OperandKind::Release(release),
            _ => kind_of_path(path)?,
        };
        Ok(Self {
            label: sp_host::escape_control(text),
            kind,
        })
    }

    /// Reads the operand.
    ///
    /// # Errors
    /// Returns an error if the operand cannot be read, or has nothing to compare.
    pub fn read(&self, options: ReadOptions<'_>) -> Result<LoadedSide> {
        match &self.kind {
            OperandKind::Release(requested) => {
                let release = release::resolve(*requested)?;
                // `nightly` changes its meaning, so a report has the exact version.
                let exact = release.to_string();
                let label = match release.is_nightly() {
                    true => &exact,
                    false => &self.label,
                };
                release::read(label, release, options)
            }
            OperandKind::Snapshot(path) => snapshot::read_file(&self.label, path, options),
            OperandKind::SnapshotFolder(folder) => {
                snapshot::read_folder(&self.label, folder, options)
            }
            OperandKind::Wheel(path) => tree::read_wheel(&self.label, path, options),
            OperandKind::IncludeRoot(include) => {
                tree::read_include_root(&self.label, include, options)
            }
        }
    }
}

/// Reads both operands in parallel.
///
/// # Errors
/// Returns the error of the first operand, or else that of the second.
pub fn read_both(
    old: &Operand,
    new: &Operand,
    options: ReadOptions<'_>,
) -> Result<(LoadedSide, LoadedSide)> {
    thread::scope(|scope| {
        let new = scope.spawn(|| new.read(options));
        let old = old.read(options);
        let new = new.join();
        let new = new.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((old?, new?))
    })
}

fn kind_of_path(path: &Path) -> Result<OperandKind> {
    let has_extension = |expected: &str| {
        path.extension()
            .is_some_and(|extension| extension == expected)
    };
    let owned = path.to_owned();
    if path.is_dir() {
        return match include_root(path) {
            Some(include) => Ok(OperandKind::IncludeRoot(include)),
            None if snapshot::find_files(path)?.is_empty() => Err(OperandError::Empty(owned)),
            None => Ok(OperandKind::SnapshotFolder(owned)),
        };
    }
    match path.is_file() {
        true if has_extension("whl") => Ok(OperandKind::Wheel(owned)),
        true if has_extension("json") => Ok(OperandKind::Snapshot(owned)),
        true => Err(OperandError::Unrecognised(owned)),
        false => Err(missing(path.display().to_string())),
    }
}

/// Returns the error for a text that is neither a release nor a path, with similar releases.
fn missing(text: String) -> OperandError {
    let files = SNAPSHOTS
        .iter()
        .filter_map(|(file, _)| file.split_once('/'));
    let releases = files.filter_map(|(_, file)| file.strip_suffix(".json"));
    let help = suggest::with_suggestion(&text, releases, OPERANDS);
    OperandError::Missing { text, help }
}

#[cfg(test)]
mod tests;
