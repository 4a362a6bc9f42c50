//! A release for every target: what differs from the first is kept beside it.
//!
//! Releases do not depend on each other, so several are read at a time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sp_ir::{Api, Constant, Item, Struct, TargetDifference, Union, Value};

use super::{ExtractError, Extracted, Job, LeftOut, Read, annotate_all, headers, read};
use crate::clang::{self, Source};
use crate::contract::{Items, Known, Notes};
use sp_system::parallel;

/// The targets that a snapshot speaks of. The first is the one that its items describe.
pub const TARGETS: [&str; 5] = [
    crate::clang::DEFAULT_TARGET,
    "aarch64-unknown-linux-gnu",
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
    "i686-unknown-linux-gnu",
];

/// As [`extract`](super::extract), with what every target has otherwise. Notes are held against all
/// committed snapshots.
///
/// # Errors
/// As [`extract`](super::extract); and if a target has more than sizes, offsets and values
/// otherwise, or a note is about nothing.
pub fn complete(include_root: &Path, release: &str) -> Result<Extracted, ExtractError> {
    let (notes, left_out) = (Notes::all()?, LeftOut::embedded()?);
    complete_with(&Job {
        notes: &notes,
        left_out: &left_out,
        known: &Known::Committed,
        include_root,
        release,
        only: &[],
    })
}

/// [`complete`] for any job.
///
/// # Errors
/// As [`complete`].
pub fn complete_with(job: &Job<'_>) -> Result<Extracted, ExtractError> {
    let selected = headers::select(job)?;
    let sources = TARGETS.map(|target| Source {
        include_root: job.include_root.into(),
        headers: selected.headers.clone(),
        target: target.into(),
    });
    let mut results = parallel::map(&sources, |source| read(job, source)).into_iter();
    let first = results.next().expect("there is a first target")?;
    let (mut extracted, taken) = annotate_all(job, &sources[0], first)?;
    for (source, other) in sources[1..].iter().zip(results) {
        let other = match taken.is_empty() {
            true => other?,
            false => read::all(job.notes, source, &clang::reachable_declarations)?,
        };
        add_target(&mut extracted, other, &source.target)?;
    }
    extracted.strays = selected.strays;
    Ok(extracted)
}

/// Comments say the same on every target.
fn read(job: &Job<'_>, source: &Source) -> Result<Read, ExtractError> {
    match source.target == TARGETS[0] {
        true => read::all(job.notes, source, &read::with_comments),
        false => read::all(job.notes, source, &read::bare),
    }
}

/// Adds what one more target has otherwise; an API that cannot be read for it is not read at all.
fn add_target(extracted: &mut Extracted, other: Read, target: &str) -> Result<(), ExtractError> {
    for unread in other.unread {
        let known = extracted.apis.len();
        extracted.apis.retain(|api| api.name != unread.api);
        if extracted.apis.len() < known {
            extracted.unread.push(unread);
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

/// [`complete`] for several releases (an include root and the release's name each), as many at a
/// time as the machine has processors. The results come in the order of the releases.
pub fn releases(all: &[(PathBuf, String)]) -> Vec<Result<Extracted, ExtractError>> {
    parallel::map(all, |(root, release)| complete(root, release))
}

/// What `other` has otherwise.
fn compare(
    api: &Api,
    other: &Items,
    target: &str,
) -> Result<BTreeMap<String, TargetDifference>, ExtractError> {
    let mut differing = BTreeMap::new();
    for (name, item) in &api.items {
        // What is opaque on one target is so on all.
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

/// How `there` differs from `here`; nothing where it cannot be compared.
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
    let offsets = |item: &Struct| item.fields.iter().map(|one| one.offset).collect::<Vec<_>>();
    let size = |item: &Struct| item.struct_size.as_ref().map(|size| size.value);
    let (mine, others) = (offsets(here), offsets(there));
    (mine.len() == others.len()).then(|| TargetDifference {
        layout: (here.layout != there.layout).then_some(there.layout),
        offsets: if mine == others { Vec::new() } else { others },
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
