//! The pipeline from headers to the IR: it selects headers, reads their declarations, and adds the contract facts.
//!
//! One parse covers all APIs, since their headers include each other. Each item belongs to the API of the header that
//! declares it. If that parse fails, each API is parsed alone, so that a header with an error affects its own API only.
//!
//! Other targets are parsed for sizes and values only. The headers' own static assertions are not evaluated.

mod error;
mod headers;
mod parse;
mod resolve;
mod targets;
mod unclaimed;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::thread;

use sp_ir::{Api, Item, Value, Visibility};

use crate::clang::{Comments, Dialect, Library, ParseInput};
use crate::contract::{self, ExcludedHeaders, Items, KnownNames, Notes};
pub use error::{ExtractError, UnreadableApi, UnreadableReason};
use parse::Parsed;
use resolve::Draft;
pub use targets::{TARGETS, extract_all_targets, extract_all_targets_with, extract_releases};
use unclaimed::UnclaimedItems;

/// The headers to extract, and the notes on them.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The notes of all APIs.
    pub notes: &'a [Notes],
    /// The headers that belong to no API.
    pub excluded: &'a ExcludedHeaders,
    /// The names to which notes may refer.
    pub known: &'a KnownNames,
    /// The folder that `#include "tensorflow/c/..."` starts from.
    pub include_root: &'a Path,
    /// The release that the headers are of.
    pub release: &'a str,
    /// The APIs to read, with the headers that theirs include; all APIs if empty.
    pub only: &'a [String],
}

/// The APIs under an include root.
#[derive(Debug, Default)]
pub struct Extracted {
    /// The APIs, sorted by name. Those that [`Job::only`] does not name may be incomplete.
    pub apis: Vec<Api>,
    /// The APIs that cannot be read.
    pub unreadable: Vec<UnreadableApi>,
    /// The visibility of the functions.
    pub visibility: BTreeMap<String, Visibility>,
    /// The headers of the C API that belong to no API in the notes and are not excluded.
    pub unassigned: Vec<String>,
}

impl Extracted {
    /// Returns the APIs.
    ///
    /// # Errors
    /// Returns the error of the first API that cannot be read.
    pub fn into_apis(self) -> Result<Vec<Api>, ExtractError> {
        match self.unreadable.into_iter().next() {
            Some(unreadable) => Err(unreadable.into()),
            None => Ok(self.apis),
        }
    }

    /// Returns one line about the headers that match no API, or `None` if there are none.
    pub fn format_unassigned(&self) -> Option<String> {
        let (count, names) = (self.unassigned.len(), self.unassigned.join(", "));
        (count > 0).then(|| format!("headers that match no API are not read ({count}): {names}"))
    }
}

/// Extracts all APIs that the headers under `include_root` declare, for `target`. The snapshots have the name `release`.
/// A comment that differs from the one in `baseline`, the snapshots of the newest known release, takes precedence over a
/// note.
///
/// # Errors
/// Returns an error if libclang is missing, the notes are wrong, or no API can be read or is declared.
pub fn extract(
    include_root: &Path,
    release: &str,
    target: &str,
    baseline: Vec<Api>,
) -> Result<Extracted, ExtractError> {
    // Loading libclang takes as long as all work before its first use.
    thread::scope(|scope| {
        scope.spawn(Library::load);
        let (notes, excluded) = (Notes::all()?, ExcludedHeaders::embedded()?);
        let job = Job {
            notes: &notes,
            excluded: &excluded,
            known: &KnownNames::AtHand(baseline),
            include_root,
            release,
            only: &[],
        };
        extract_with(&job, target)
    })
}

/// Extracts the APIs of a job for one target.
///
/// # Errors
/// Returns an error as [`extract`] does.
pub fn extract_with(job: &Job<'_>, target: &str) -> Result<Extracted, ExtractError> {
    let selected = headers::select(job)?;
    let input = ParseInput {
        include_root: job.include_root.into(),
        headers: selected.headers,
        target: target.into(),
        dialect: Dialect::TensorFlow,
    };
    let parsed = parse::parse_apis(job.notes, &input, &parse::reader(true))?;
    let (extracted, _) = annotate_all(job, &input, parsed)?;
    Ok(Extracted {
        unassigned: selected.unassigned,
        ..extracted
    })
}

/// Converts declarations to APIs. The second result has the names that were found outside of the APIs' headers.
fn annotate_all(
    job: &Job<'_>,
    input: &ParseInput,
    parsed: Parsed,
) -> Result<(Extracted, BTreeSet<String>), ExtractError> {
    let Parsed {
        declared,
        mut unreadable,
    } = parsed;
    let mut comments = declared.comments;
    let mut unclaimed = UnclaimedItems::new(declared.items);
    let is_readable =
        |api: &str, unreadable: &[UnreadableApi]| unreadable.iter().all(|it| it.api != api);
    let mut drafts = Vec::new();
    for notes in job.notes {
        let items = unclaimed.take(notes, &claimed_by_others(job.notes, notes));
        if !items.is_empty() && is_readable(&notes.api, &unreadable) {
            drafts.push(Draft::new(notes, items));
        }
    }
    let (unresolved, added) = resolve::resolve(job, input, &mut drafts, &mut comments);
    unreadable.extend(unresolved);
    drafts.retain(|draft| is_readable(&draft.notes.api, &unreadable));
    let mut apis = Vec::new();
    for draft in drafts {
        apis.push(annotate(job, draft, &comments)?);
    }
    if apis.is_empty() && !unreadable.is_empty() {
        return Err(unreadable.swap_remove(0).into());
    }
    // A release may lack the APIs that `only` names.
    if apis.is_empty() && job.only.is_empty() {
        let root = job.include_root.into();
        return Err(ExtractError::NoItems(root));
    }
    apis.sort_by(|left, right| left.name.cmp(&right.name));
    let extracted = Extracted {
        apis,
        unreadable,
        visibility: declared.visibility,
        unassigned: Vec::new(),
    };
    Ok((extracted, added))
}

/// Adds the contract facts to a draft.
fn annotate(job: &Job<'_>, mut draft: Draft<'_>, comments: &Comments) -> Result<Api, ExtractError> {
    let (notes, items) = (draft.notes, &mut draft.items);
    contract::annotate(items, comments, notes, job.known, job.release)?;
    Ok(Api {
        imports: draft.imports,
        ..new_api(notes, draft.items, job.release)
    })
}

fn new_api(notes: &Notes, items: Items, release: &str) -> Api {
    Api {
        version: version(notes, &items),
        ..Api::new(&notes.api, release, items)
    }
}

/// Returns the items of shared headers that the other APIs' notes name.
fn claimed_by_others(notes: &[Notes], own: &Notes) -> BTreeSet<String> {
    let others = notes.iter().filter(|other| other.api != own.api);
    others
        .flat_map(|other| other.only.values().flatten().cloned())
        .collect()
}

/// Returns the API's own version, or `None` if its notes name no macros for it or the headers do not define them.
fn version(notes: &Notes, items: &Items) -> Option<String> {
    let number = |name: &String| match items.get(name)? {
        Item::Constant(constant) => match constant.value {
            Value::Int(value) => Some(value.to_string()),
            _ => None,
        },
        _ => None,
    };
    let numbers: Vec<String> = notes.version.iter().filter_map(number).collect();
    (!numbers.is_empty()).then(|| numbers.join("."))
}
