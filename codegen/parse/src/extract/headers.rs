//! Which of the headers at hand are read: each belongs to an API or is left out with a reason. Those that
//! are neither are reported, so that a new header does not slip by.

use std::collections::BTreeSet;

use super::{ExtractError, Job};
use crate::closure;
use crate::contract::Notes;
use crate::source::{Installed, Source as _};

/// A header that belongs to no API and is not left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray(pub String);

/// The headers of a job.
pub struct Selected {
    /// Those of APIs.
    pub headers: Vec<String>,
    /// Those that look like C API, belong to none and are not left out.
    pub strays: Vec<Stray>,
}

/// Sorts the headers below the job's include root.
pub fn select(job: &Job<'_>) -> Result<Selected, ExtractError> {
    let has_header = |header: &String| job.notes.iter().any(|notes| notes.has_header(header));
    let (headers, others): (Vec<String>, Vec<String>) =
        found(job)?.into_iter().partition(has_header);
    if headers.is_empty() && job.only.is_empty() {
        return Err(no_headers(job));
    }
    // What is included by the APIs asked for is no stray.
    let is_stray = |header: &String| job.only.is_empty() && job.left_out.reason(header).is_none();
    let strays = others.into_iter().filter(is_stray).map(Stray);
    Ok(Selected {
        headers,
        strays: strays.collect(),
    })
}

fn no_headers(job: &Job<'_>) -> ExtractError {
    ExtractError::NoHeaders {
        root: job.include_root.into(),
        what: match job.only {
            [] => "TensorFlow's C APIs".into(),
            only => format!("API {}", only.join(", ")),
        },
    }
}

/// The headers of the C API, as an import takes them; of the job's APIs alone if it names some.
fn found(job: &Job<'_>) -> Result<BTreeSet<String>, ExtractError> {
    let mut source = Installed::at(job.include_root).map_err(|_| no_headers(job))?;
    if !source.names().iter().any(|name| name.ends_with(".h")) {
        return Err(no_headers(job));
    }
    if job.only.is_empty() {
        let found = closure::of(&mut source, &mut |_| {})?;
        return Ok(found.headers.into_keys().collect());
    }
    let asked = job.notes.iter().filter(|one| job.only.contains(&one.api));
    let asked: Vec<&Notes> = asked.collect();
    let is_asked = |name: &str| asked.iter().any(|notes| notes.has_header(name));
    Ok(closure::among(&mut source, &is_asked)?
        .into_keys()
        .collect())
}
