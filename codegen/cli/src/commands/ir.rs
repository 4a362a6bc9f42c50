//! `sp-gen ir <API>`: what sp-gen knows of an API, from a release's snapshot or from headers.

use std::path::PathBuf;

use clap::ValueEnum;
use miette::{Diagnostic, IntoDiagnostic};
use sp_ir::Api;
use thiserror::Error;

use crate::clang::DEFAULT_TARGET;
use crate::diagnostic::{Outcome, Result};
use crate::embedded::SNAPSHOTS;

/// Arguments of `ir`.
#[derive(clap::Args)]
pub struct Args {
    /// The API: stream_executor, kernels, ...
    api: String,
    /// The release whose snapshot is read; with --headers, the release they are of
    #[arg(long, default_value = "2.21")]
    release: String,
    /// Parse the headers under this include root instead
    #[arg(long, value_name = "INCLUDE_ROOT")]
    headers: Option<PathBuf>,
    /// The target whose layouts are wanted; needs --headers
    #[arg(long, default_value = DEFAULT_TARGET, requires = "headers")]
    target: String,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Tree)]
    format: Format,
}

/// How to print an API.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// The snapshot's form
    Json,
    /// For reading
    Tree,
}

/// There is no such API or snapshot.
#[derive(Debug, Error, Diagnostic)]
#[error("there is no `{api}` at {release}")]
#[diagnostic(code(sp_gen::ir::unknown), help("known: {known}"))]
struct Unknown {
    api: String,
    release: String,
    known: String,
}

/// Prints the API.
pub fn run(args: Args) -> Result {
    let api = match &args.headers {
        Some(root) => parse(root, &args)?,
        None => read(&args)?,
    };
    match args.format {
        Format::Json => print!("{}", api.to_json()),
        Format::Tree => print!("{}", crate::tree::draw(&api)),
    }
    Ok(Outcome::Done)
}

fn parse(root: &std::path::Path, args: &Args) -> Result<Api> {
    let apis = crate::extract(root, &args.release, &args.target)?;
    let names: Vec<String> = apis.iter().map(|api| api.name.clone()).collect();
    let found = apis.into_iter().find(|api| api.name == args.api);
    Ok(found.ok_or_else(|| unknown(args, names.join(", ")))?)
}

fn read(args: &Args) -> Result<Api> {
    let file = format!("{}/{}.json", args.api, args.release);
    let found = SNAPSHOTS.iter().find(|(name, _)| *name == file);
    let (_, text) = found.ok_or_else(|| {
        let names: Vec<&str> = SNAPSHOTS
            .iter()
            .map(|(name, _)| name.trim_end_matches(".json"))
            .collect();
        unknown(args, names.join(", "))
    })?;
    Api::from_json(text).into_diagnostic()
}

fn unknown(args: &Args, known: String) -> Unknown {
    Unknown {
        api: args.api.clone(),
        release: args.release.clone(),
        known,
    }
}
