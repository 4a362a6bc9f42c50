//! The pipeline: headers to declarations, declarations to facts, facts to IR.
//!
//! One parse covers all APIs, since their headers include each other; each item goes to the API of
//! the header that declares it. If that parse fails, each API is parsed alone, so that a header that
//! cannot be read costs its own API only.

mod headers;
mod names;
mod pool;
mod problem;
mod read;
mod targets;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;

use sp_ir::{Api, Imports, Item, SCHEMA, Targets, Value};

use crate::clang::{Comments, Library, Source};
use crate::contract::{self, Items, Known, LeftOut, Notes};
pub use headers::Stray;
use pool::Pool;
pub use problem::{ExtractError, Unread};
use read::Read;
pub use targets::{TARGETS, complete, complete_with, releases};

/// The headers to read, and the notes to read them with.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The notes of all APIs.
    pub notes: &'a [Notes],
    /// The headers that belong to no API.
    pub left_out: &'a LeftOut,
    /// The names that notes may be about.
    pub known: &'a Known,
    /// The folder that `#include "tensorflow/c/..."` starts from.
    pub include_root: &'a Path,
    /// The release that the headers are of.
    pub release: &'a str,
    /// The APIs to read with what their headers include; all APIs if empty.
    pub only: &'a [String],
}

/// The declarations of the headers under an include root.
#[derive(Debug, Default)]
pub struct Extracted {
    /// The APIs, sorted by name. Those that [`Job::only`] does not name may be incomplete.
    pub apis: Vec<Api>,
    /// The APIs that cannot be read.
    pub unread: Vec<Unread>,
    /// The headers that look like C API and belong to none.
    pub strays: Vec<Stray>,
}

impl Extracted {
    /// Returns the APIs.
    ///
    /// # Errors
    /// Returns the first of the APIs that cannot be read.
    pub fn whole(self) -> Result<Vec<Api>, ExtractError> {
        match self.unread.into_iter().next() {
            Some(unread) => Err(unread.into()),
            None => Ok(self.apis),
        }
    }

    /// Returns one line about the headers that match no API, or `None` if there are none.
    pub fn stray_line(&self) -> Option<String> {
        let names: Vec<&str> = self.strays.iter().map(|one| one.0.as_str()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "headers that match no API are not read ({}): {}",
                names.len(),
                names.join(", ")
            )
        })
    }
}

/// Reads all APIs that the headers under `include_root` declare, for `target`, as `release`'s. A comment
/// that differs from its reading in `baseline`, the snapshots of the newest known release, takes
/// precedence over a note.
///
/// # Errors
/// Returns an error if libclang is missing, the notes are wrong, or no API can be read.
pub fn extract(
    include_root: &Path,
    release: &str,
    target: &str,
    baseline: Vec<Api>,
) -> Result<Extracted, ExtractError> {
    // Loading it takes as long as all that is done before it is needed.
    thread::scope(|scope| {
        scope.spawn(Library::load);
        let (notes, left_out) = (Notes::all()?, LeftOut::embedded()?);
        let job = Job {
            notes: &notes,
            left_out: &left_out,
            known: &Known::AtHand(baseline),
            include_root,
            release,
            only: &[],
        };
        extract_with(&job, target)
    })
}

/// Does one job for one target.
///
/// # Errors
/// As [`extract`].
pub fn extract_with(job: &Job<'_>, target: &str) -> Result<Extracted, ExtractError> {
    let selected = headers::select(job)?;
    let source = Source {
        include_root: job.include_root.into(),
        headers: selected.headers,
        target: target.into(),
    };
    let read = read::all(job.notes, &source, &read::with_comments)?;
    let (extracted, _) = annotate_all(job, &source, read)?;
    Ok(Extracted {
        strays: selected.strays,
        ..extracted
    })
}

/// Makes APIs of declarations. The second result has the names that were found outside of the APIs'
/// headers.
fn annotate_all(
    job: &Job<'_>,
    source: &Source,
    read: Read,
) -> Result<(Extracted, BTreeSet<String>), ExtractError> {
    let Read {
        declared,
        mut unread,
    } = read;
    let (mut comments, mut pool) = (declared.comments, Pool::new(declared.items));
    let is_unread = |api: &str, unread: &[Unread]| unread.iter().any(|one| one.api == api);
    let mut drafts = Vec::new();
    for notes in job.notes {
        let items = pool.take(notes, &claimed(job.notes, notes));
        if !items.is_empty() && !is_unread(&notes.api, &unread) {
            drafts.push(names::Draft::new(notes, items));
        }
    }
    let (lost, taken) = names::resolve(job, source, &mut drafts, &mut comments);
    unread.extend(lost);
    drafts.retain(|draft| !is_unread(&draft.notes.api, &unread));
    let mut apis = Vec::new();
    for draft in drafts {
        apis.push(finish(job, draft, &comments)?);
    }
    if apis.is_empty() && !unread.is_empty() {
        return Err(unread.swap_remove(0).into());
    }
    apis.sort_by(|left, right| left.name.cmp(&right.name));
    let extracted = Extracted {
        apis,
        unread,
        strays: Vec::new(),
    };
    Ok((extracted, taken))
}

fn finish(
    job: &Job<'_>,
    mut draft: names::Draft<'_>,
    comments: &Comments,
) -> Result<Api, ExtractError> {
    let (notes, items) = (draft.notes, &mut draft.items);
    contract::annotate(items, comments, notes, job.known, job.release)?;
    Ok(Api {
        imports: draft.imports,
        ..api(notes, draft.items, job.release)
    })
}

fn api(notes: &Notes, items: Items, release: &str) -> Api {
    Api {
        schema: SCHEMA,
        name: notes.api.clone(),
        release: release.into(),
        preview: None,
        version: version(notes, &items),
        items,
        imports: Imports::new(),
        targets: Targets::new(),
    }
}

/// What the other APIs name of the headers that they share.
fn claimed(notes: &[Notes], mine: &Notes) -> BTreeSet<String> {
    let others = notes.iter().filter(|one| one.api != mine.api);
    others
        .flat_map(|one| one.only.values().flatten().cloned())
        .collect()
}

fn version(notes: &Notes, items: &Items) -> Option<String> {
    let parts: Vec<String> = notes
        .version
        .iter()
        .filter_map(|name| match items.get(name) {
            Some(Item::Constant(constant)) => match constant.value {
                Value::Int(value) => Some(value.to_string()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("."))
}
