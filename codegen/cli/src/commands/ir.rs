//! `sp-gen ir <API>`: what sp-gen knows of an API, from a release's snapshot or from headers.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use miette::{Diagnostic, IntoDiagnostic, WrapErr};
use sp_ir::Api;
use thiserror::Error;

use crate::clang::{DEFAULT_TARGET, Library};
use crate::diagnostic::{Outcome, Result};
use crate::embedded::SNAPSHOTS;
use crate::import::place::Place;
use crate::import::release::Release;
use crate::lint::{self, Lint};

/// Arguments of `ir`.
#[derive(clap::Args)]
pub struct Args {
    /// The API: stream_executor, kernels, ...
    api: String,
    /// The release whose snapshot is read; with --headers, the release they are of
    #[arg(long, default_value = "2.21")]
    release: Release,
    /// Parse the headers under this include root instead
    #[arg(long, value_name = "INCLUDE_ROOT")]
    headers: Option<PathBuf>,
    /// The target whose layouts are wanted
    #[arg(long, default_value = DEFAULT_TARGET, requires = "headers")]
    target: String,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Tree)]
    format: Format,
    /// Print instead where the headers contradict their own rules; exit 1 where they do
    #[arg(long, conflicts_with = "format")]
    lints: bool,
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
    if args.lints {
        return lints(&api);
    }
    print(&match args.format {
        Format::Json => api.to_json(),
        Format::Tree => crate::tree::draw(&api),
    })?;
    Ok(Outcome::Done)
}

fn lints(api: &Api) -> Result {
    let found = lint::check(api);
    let rows = found.iter().map(
        |Lint {
             id,
             item,
             message,
             loc,
         }| { format!("{}:{}: {id}: {item}: {message}\n", loc.file, loc.line) },
    );
    print(&rows.collect::<String>())?;
    Ok(match found.is_empty() {
        true => Outcome::Done,
        false => Outcome::Found,
    })
}

fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader such as `head` may have seen enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).into_diagnostic(),
        _ => Ok(()),
    }
}

fn minor(args: &Args) -> String {
    args.release.minor().to_string()
}

fn parse(root: &Path, args: &Args) -> Result<Api> {
    let library = Library::load()?;
    eprintln!("reading with {}", library.version());
    let apis = crate::extract(root, &minor(args), &args.target)?;
    let names: Vec<String> = apis.iter().map(|api| api.name.clone()).collect();
    let found = apis.into_iter().find(|api| api.name == args.api);
    found.ok_or_else(|| unknown(args, names).into())
}

/// The checkout's or the cache's snapshot, which may be newer than the binary's.
fn read(args: &Args) -> Result<Api> {
    let name = format!("{}/{}.json", args.api, minor(args));
    let place = Place::find(&std::env::current_dir().into_diagnostic()?)?;
    let stored = fs::read_to_string(place.snapshots.join(&name)).ok();
    let embedded = || {
        let found = SNAPSHOTS.iter().find(|(file, _)| *file == name);
        found.map(|(_, text)| (*text).to_string())
    };
    let text = stored
        .or_else(embedded)
        .ok_or_else(|| unknown(args, snapshots()))?;
    Api::from_json(&text).into_diagnostic().wrap_err(name)
}

/// The snapshots in the binary, as `kernels at 2.21`.
fn snapshots() -> Vec<String> {
    let names = SNAPSHOTS
        .iter()
        .filter_map(|(file, _)| file.strip_suffix(".json"));
    names.map(|name| name.replace('/', " at ")).collect()
}

fn unknown(args: &Args, known: Vec<String>) -> Unknown {
    let known: BTreeSet<String> = known.into_iter().collect();
    Unknown {
        api: args.api.clone(),
        release: minor(args),
        known: known.into_iter().collect::<Vec<_>>().join(", "),
    }
}
