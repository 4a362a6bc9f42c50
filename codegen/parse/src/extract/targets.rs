//! Extracts a release for every target. A snapshot describes the first target, and the differences of the others.
//!
//! Releases do not depend on each other, so several are read at a time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sp_ir::{Api, Constant, Item, Struct, TargetDifference, Union, Value};

use super::parse::{self, Parsed};
use super::{ExcludedHeaders, ExtractError, Extracted, Job, annotate_all, headers};
use crate::clang::{self, Dialect, ParseInput};
use crate::contract::{Items, KnownNames, Notes};
use sp_system::parallel;

/// The targets that a snapshot describes. Its items are those of the first.
pub const TARGETS: [&str; 5] = [
    crate::clang::DEFAULT_TARGET,
    "aarch64-unknown-linux-gnu",
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
    "i686-unknown-linux-gnu",
];

/// Works as [`extract`](super::extract) does, for all targets. Notes are checked against all committed snapshots.
///
/// # Errors
/// Returns an error as [`extract`](super::extract) does. A difference between targets other than in layouts and values
/// is an error too, and so is a note that applies to nothing.
pub fn extract_all_targets(include_root: &Path, release: &str) -> Result<Extracted, ExtractError> {
    let (notes, excluded) = (Notes::all()?, ExcludedHeaders::embedded()?);
    extract_all_targets_with(&Job {
        notes: &notes,
        excluded: &excluded,
        known: &KnownNames::Committed,
        include_root,
        release,
        only: &[],
    })
}

/// Works as [`extract_all_targets`] does, for any job.
///
/// # Errors
/// Returns an error as [`extract_all_targets`] does.
pub fn extract_all_targets_with(job: &Job<'_>) -> Result<Extracted, ExtractError> {
    let selected = headers::select(job)?;
    let inputs = TARGETS.map(|target| ParseInput {
        include_root: job.include_root.into(),
        headers: selected.headers.clone(),
        target: target.into(),
        dialect: Dialect::TensorFlow,
    });
    // The comments are the same for all targets.
    let read = |input: &ParseInput| parse::reader(input.target == TARGETS[0])(input);
    let parse_target = |input: &ParseInput| parse::parse_apis(job.notes, input, &read);
    let mut results = parallel::map(&inputs, parse_target).into_iter();
    let first = results.next().expect("there is a first target")?;
    let (mut extracted, added) = annotate_all(job, &inputs[0], first)?;
    for (input, other) in inputs[1..].iter().zip(results) {
        let other = match added.is_empty() {
            true => other?,
            false => parse::parse_apis(job.notes, input, &clang::reachable_declarations)?,
        };
        add_target(&mut extracted, other, &input.target)?;
    }
    extracted.unassigned = selected.unassigned;
    Ok(extracted)
}

/// Adds the differences of one more target. An API that cannot be read for it becomes unreadable.
fn add_target(extracted: &mut Extracted, other: Parsed, target: &str) -> Result<(), ExtractError> {
    for unreadable in other.unreadable {
        let count = extracted.apis.len();
        extracted.apis.retain(|api| api.name != unreadable.api);
        if extracted.apis.len() < count {
            extracted.unreadable.push(unreadable);
        }
    }
    for api in &mut extracted.apis {
        let differing = compare(api, &other.declared.items, target)?;
        if !differing.is_empty() {
            api.targets.insert(target.into(), differing);
        }
    }
    Ok(())
}

/// Calls [`extract_all_targets`] for several releases, given as include root and name, as many at a time as the machine
/// has processors. The results are in the order of the releases.
pub fn extract_releases(all: &[(PathBuf, String)]) -> Vec<Result<Extracted, ExtractError>> {
    parallel::map(all, |(root, release)| extract_all_targets(root, release))
}

/// Returns the differences of `other`.
fn compare(
    api: &Api,
    other: &Items,
    target: &str,
) -> Result<BTreeMap<String, TargetDifference>, ExtractError> {
    let mut differing = BTreeMap::new();
    for (name, item) in &api.items {
        // A type that is opaque on one target is opaque on all.
        if matches!(item, Item::Handle(_)) && !other.contains_key(name) {
            continue;
        }
        let there = other.get(name);
        let Some(differs) = there.and_then(|there| difference(item, there)) else {
            return Err(ExtractError::Target {
                api: api.name.clone(),
                item: name.clone(),
                target: target.into(),
            });
        };
        if differs != TargetDifference::default() {
            differing.insert(name.clone(), differs);
        }
    }
    Ok(differing)
}

/// Returns the differences of `there` from `here`, or `None` if a snapshot cannot describe them.
fn difference(here: &Item, there: &Item) -> Option<TargetDifference> {
    match (here, there) {
        (Item::Struct(here), Item::Struct(there)) => structure(here, there),
        (Item::Union(here), Item::Union(there)) => Some(union(here, there)),
        (Item::Constant(here), Item::Constant(there)) => Some(constant(here, there)),
        (here, there) => {
            let same = std::mem::discriminant(here) == std::mem::discriminant(there);
            same.then(TargetDifference::default)
        }
    }
}

fn structure(here: &Struct, there: &Struct) -> Option<TargetDifference> {
    let offsets = |item: &Struct| item.fields.iter().map(|it| it.offset).collect::<Vec<_>>();
    let size = |item: &Struct| item.struct_size.as_ref().map(|size| size.value);
    let (offsets_here, offsets_there) = (offsets(here), offsets(there));
    (offsets_here.len() == offsets_there.len()).then(|| TargetDifference {
        layout: (here.layout != there.layout).then_some(there.layout),
        offsets: match offsets_here == offsets_there {
            true => Vec::new(),
            false => offsets_there,
        },
        struct_size: size(there).filter(|_| size(here) != size(there)),
        value: None,
    })
}

fn union(here: &Union, there: &Union) -> TargetDifference {
    TargetDifference {
        layout: (here.layout != there.layout).then_some(there.layout),
        ..TargetDifference::default()
    }
}

fn constant(here: &Constant, there: &Constant) -> TargetDifference {
    match there.value {
        Value::Int(value) if here.value != there.value => TargetDifference {
            value: Some(value),
            ..TargetDifference::default()
        },
        _ => TargetDifference::default(),
    }
}
