//! Selects the headers to read. Each header belongs to an API or is excluded with a reason. The others are reported, so
//! that a new header is not ignored silently.

use std::collections::BTreeSet;

use super::{ExtractError, Job};
use crate::api_headers;
use crate::contract::Notes;
use crate::source::{Installed, Source as _};

/// The headers of a job.
pub struct Selected {
    /// The headers of APIs.
    pub headers: Vec<String>,
    /// The headers of the C API that belong to no API in the notes and are not excluded.
    pub unassigned: Vec<String>,
}

/// Selects the headers below the job's include root.
///
/// # Errors
/// Returns an error if the include root has no header of the job's APIs, or cannot be read.
pub fn select(job: &Job<'_>) -> Result<Selected, ExtractError> {
    let has_header = |header: &String| job.notes.iter().any(|notes| notes.has_header(header));
    let (headers, others): (Vec<String>, Vec<String>) =
        find_headers(job)?.into_iter().partition(has_header);
    if headers.is_empty() && job.only.is_empty() {
        return Err(no_headers(job));
    }
    // With `only`, the other headers are those that the requested APIs include.
    let is_unassigned =
        |header: &String| job.only.is_empty() && job.excluded.reason(header).is_none();
    let unassigned = others.into_iter().filter(is_unassigned);
    Ok(Selected {
        headers,
        unassigned: unassigned.collect(),
    })
}

fn no_headers(job: &Job<'_>) -> ExtractError {
    ExtractError::NoHeaders {
        root: job.include_root.into(),
        api: match job.only {
            [] => "TensorFlow's C APIs".into(),
            only => format!("API {}", only.join(", ")),
        },
    }
}

/// Returns the headers of the C API, as an import selects them, or of the job's `only` APIs.
fn find_headers(job: &Job<'_>) -> Result<BTreeSet<String>, ExtractError> {
    let mut source = Installed::open_root(job.include_root).map_err(|_| no_headers(job))?;
    if !source.names().iter().any(|name| name.ends_with(".h")) {
        return Err(no_headers(job));
    }
    if job.only.is_empty() {
        let found = api_headers::find(&mut source, &mut |_| {})?;
        return Ok(found.headers.into_keys().collect());
    }
    let requested = job.notes.iter().filter(|it| job.only.contains(&it.api));
    let requested: Vec<&Notes> = requested.collect();
    let is_requested = |name: &str| requested.iter().any(|notes| notes.has_header(name));
    Ok(api_headers::find_matching(&mut source, &is_requested)?
        .into_keys()
        .collect())
}
