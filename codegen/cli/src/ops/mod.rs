//! TensorFlow's ops: one op, or the list of their names, as text and JSON.

pub mod json;
mod phrases;
pub mod text;

use miette::Diagnostic;
use sp_data::release::{Release, RequestedRelease};
use sp_data::suggest;
use sp_ops::{Declared, Op, ReleaseOps, ReleaseSet, Table};
use sp_system::errors;
use thiserror::Error;

pub use phrases::format_releases;

errors! {
    /// A request that names no known op or release.
    #[derive(Debug, Error, Diagnostic)]
    pub enum OpError in ops {
        /// No release has the op.
        UnknownOp { name: String, help: String } = unknown_op: ("TensorFlow has no op `{name}`"),
            help("{help}");

        /// The release does not have the op.
        NotInRelease {
            name: String,
            release: Release,
            /// The releases that have it.
            releases: String,
        } = not_in_release: ("TensorFlow {release} has no op `{name}`"),
            help("releases with the op: {releases}");

        /// A side of a comparison is not a release.
        NotARelease { text: String, reason: String }
            = not_a_release: ("`--ops` compares releases, and `{text}` is not one"),
            help("{reason}");

        /// The ops of the release are not known.
        UnknownRelease { release: String, help: String }
            = unknown_release: ("the ops of TensorFlow {release} are not known"),
            help("{help}");
    }
}

/// Parses a side of a comparison.
///
/// # Errors
/// Returns an error if the text is not a release.
pub fn parse_release(text: &str) -> Result<RequestedRelease, OpError> {
    text.parse().map_err(|reason: String| OpError::NotARelease {
        text: sp_host::escape_control(text),
        reason: sp_host::escape_control(&reason),
    })
}

/// Returns the requested release if the table has it: a minor release, or the version of a nightly build.
///
/// # Errors
/// Returns an error if the table does not have the release.
pub fn resolve(requested: RequestedRelease, table: &Table<'_>) -> Result<Release, OpError> {
    let found = match requested {
        RequestedRelease::Nightly => table.versions().filter(|it| it.is_nightly()).last(),
        RequestedRelease::Version(release) => release.newest_match(table.versions()),
    };
    found
        .map(Release::key)
        .ok_or_else(|| OpError::UnknownRelease {
            release: requested.to_string(),
            help: known_releases(&requested.to_string(), table),
        })
}

fn known_releases(requested: &str, table: &Table<'_>) -> String {
    let known: Vec<String> = table.versions().map(|it| it.to_string()).collect();
    let list = format!(
        "known: {}; `sp-gen import tensorflow --ops` imports those of an installed TensorFlow",
        known.join(", ")
    );
    suggest::with_suggestion(requested, known.iter().map(String::as_str), list)
}

/// Returns the requested release and its op definitions.
///
/// # Errors
/// Returns an error if the table does not have the release.
pub fn definitions(
    requested: RequestedRelease,
    table: &Table<'_>,
) -> Result<(Release, ReleaseOps), OpError> {
    let found = resolve(requested, table).ok();
    let found = found.and_then(|release| Some((release, table.in_release(release)?)));
    found.ok_or_else(|| unknown_release(requested, table))
}

fn unknown_release(requested: RequestedRelease, table: &Table<'_>) -> OpError {
    OpError::UnknownRelease {
        release: requested.to_string(),
        help: known_releases(&requested.to_string(), table),
    }
}

/// Returns the op `name`, restricted to a release if there is one.
///
/// # Errors
/// Returns an error if there is no such op, or if the release does not have it.
pub fn find(name: &str, release: Option<Release>, table: &Table<'_>) -> Result<Op, OpError> {
    let op = table.find(name).ok_or_else(|| unknown_op(name, table))?;
    match release {
        Some(release) if !op.releases.contains(release) => Err(OpError::NotInRelease {
            name: name.to_owned(),
            release,
            releases: format_releases(&op.releases, &ReleaseSet::default()),
        }),
        Some(release) => Ok(restrict(op, release)),
        None => Ok(op),
    }
}

fn unknown_op(name: &str, table: &Table<'_>) -> OpError {
    let list = "`sp-gen ops --search TEXT` lists the names that contain a text";
    OpError::UnknownOp {
        name: sp_host::escape_control(name),
        help: suggest::with_suggestion(name, table.names(), list),
    }
}

/// Returns the op with only what a release has of it.
fn restrict(mut op: Op, release: Release) -> Op {
    fn retain<T>(declared: &mut Vec<Declared<T>>, release: Release) {
        declared.retain(|it| it.releases.contains(release));
    }
    retain(&mut op.inputs, release);
    retain(&mut op.outputs, release);
    retain(&mut op.attributes, release);
    retain(&mut op.flags, release);
    op
}

/// Returns the ops whose name contains `text` regardless of case, restricted to a release if there is one.
pub fn search(text: &str, release: Option<Release>, table: &Table<'_>) -> Vec<Op> {
    let text = text.to_lowercase();
    let is_found = |op: &Op| {
        let in_release = release.is_none_or(|release| op.releases.contains(release));
        in_release && op.name.to_lowercase().contains(&text)
    };
    table.ops().filter(is_found).collect()
}
