//! What OLD and NEW on the command line name, and how each becomes a [`Surface`]: a release, an IR
//! file, a folder of them, an include root, a wheel, or an installed TensorFlow.
//!
//! Reading an operand writes nothing that outlives the process.

mod exports;
mod headers;
mod problem;
mod release;
mod snapshot;
mod tree;

use std::path::{Path, PathBuf};
use std::thread;

pub use headers::Headers;
pub use problem::OperandError;
pub use release::{resolve, unknown_release};
pub use tree::release_of_headers;

use crate::console::note;
use problem::OPERANDS;
use sp_data::embedded::SNAPSHOTS;
use sp_data::folders::DataFolders;
use sp_data::release::RequestedRelease;
use sp_data::suggest;
use sp_diff::Surface;
use sp_parse::extract::UnreadableApi;
use sp_parse::source::include_root;

/// Returns the folders for a command that runs in `folder` and only reads. Without a cache, what the binary
/// contains is all there is.
pub fn readable_place(folder: &Path) -> DataFolders {
    DataFolders::find(folder).unwrap_or_else(|_| {
        note!("neither XDG_CACHE_HOME nor HOME is set: imported releases are not read");
        DataFolders::without_cache()
    })
}

type Result<T> = std::result::Result<T, OperandError>;

/// One of the two things that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// As it was given.
    label: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Release(RequestedRelease),
    Snapshot(PathBuf),
    Snapshots(PathBuf),
    Wheel(PathBuf),
    /// An include root, or what has one: an environment, a site-packages or `tensorflow` folder.
    Tree {
        include: PathBuf,
    },
}

/// An operand that was read.
#[derive(Debug)]
pub struct Side {
    /// What it declares and exports.
    pub surface: Surface,
    /// Its headers, where a report can quote them.
    pub headers: Headers,
    /// The APIs whose headers cannot be read.
    pub unread: Vec<UnreadableApi>,
    /// True if headers were parsed: those of [`Reading::apis`] alone, if there are any.
    pub is_parsed: bool,
}

impl Side {
    /// A side whose APIs were read from snapshots.
    fn stored(surface: Surface, headers: Headers) -> Self {
        Self {
            surface,
            headers,
            unread: Vec::new(),
            is_parsed: false,
        }
    }
}

/// Where operands are read from, and for which target.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Snapshots, symbols, stored headers.
    pub place: &'a DataFolders,
    /// The target triple.
    pub target: &'a str,
    /// The APIs whose headers are parsed; all if empty.
    pub apis: &'a [String],
}

impl Operand {
    /// What `text` names.
    ///
    /// # Errors
    /// Where it is no release and no such file or folder is there.
    pub fn find(text: &str) -> Result<Self> {
        let path = Path::new(text);
        let kind = match text.parse() {
            Ok(release) if !path.exists() => Kind::Release(release),
            _ => on_disk(path)?,
        };
        Ok(Self {
            label: text.into(),
            kind,
        })
    }

    /// Reads it.
    ///
    /// # Errors
    /// Where it cannot be read, or holds nothing that can be compared.
    pub fn read(&self, reading: Reading<'_>) -> Result<Side> {
        match &self.kind {
            Kind::Release(asked) => {
                let release = release::resolve(*asked)?;
                // `nightly` is another build next week; a report names the one that was read.
                let exact = release.to_string();
                let label = if release.is_nightly() {
                    &exact
                } else {
                    &self.label
                };
                release::read(label, release, reading)
            }
            Kind::Snapshot(path) => snapshot::file(&self.label, path, reading),
            Kind::Snapshots(folder) => snapshot::folder(&self.label, folder, reading),
            Kind::Wheel(path) => tree::wheel(&self.label, path, reading),
            Kind::Tree { include } => tree::folder(&self.label, include, reading),
        }
    }
}

/// Reads both, each in a thread of its own.
///
/// # Errors
/// The first operand's, else the second's.
pub fn both(old: &Operand, new: &Operand, reading: Reading<'_>) -> Result<(Side, Side)> {
    thread::scope(|scope| {
        let second = scope.spawn(|| new.read(reading));
        let first = old.read(reading);
        let second = second.join();
        let second = second.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((first?, second?))
    })
}

fn on_disk(path: &Path) -> Result<Kind> {
    let is = |ending: &str| path.extension().is_some_and(|found| found == ending);
    let owned = path.to_owned();
    if path.is_dir() {
        return match include_root(path) {
            Some(include) => Ok(Kind::Tree { include }),
            None if snapshot::files(path)?.is_empty() => Err(OperandError::Empty { path: owned }),
            None => Ok(Kind::Snapshots(owned)),
        };
    }
    match path.is_file() {
        true if is("whl") => Ok(Kind::Wheel(owned)),
        true if is("json") => Ok(Kind::Snapshot(owned)),
        true => Err(OperandError::Unrecognised { path: owned }),
        false => Err(missing(path.display().to_string())),
    }
}

/// Returns the error for a text that is neither a release nor a path, with the releases in the binary that are close.
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
