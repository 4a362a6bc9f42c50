//! `sp-gen ir <API>`: what sp-gen knows of an API, from a release's snapshot or from headers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use miette::{Diagnostic, IntoDiagnostic, WrapErr};
use sp_ir::{Api, History};
use thiserror::Error;

use crate::clang::{DEFAULT_TARGET, Library};
use crate::diagnostic::{self, Outcome, Result};
use crate::embedded::SNAPSHOTS;
use crate::import::place::Place;
use crate::import::release::Release;
use crate::lint::{self, Lint};
use crate::snapshots;
use crate::symbols::Symbols;

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
    let place = Place::find(&std::env::current_dir().into_diagnostic()?)?;
    let apis = match &args.headers {
        Some(root) => parse(root, &args, &place)?,
        None => Vec::new(),
    };
    let parsed = apis.iter().find(|api| api.name == args.api).cloned();
    let api = match (&args.headers, parsed) {
        (Some(_), None) => return Err(unknown(&args, names(&apis)).into()),
        (_, Some(api)) => api,
        (None, None) => read(&args, &place)?,
    };
    if args.lints {
        return lints(&api, apis, &args, &place);
    }
    diagnostic::print(&match args.format {
        Format::Json => api.to_json(),
        Format::Tree => crate::tree::draw(&api),
    })?;
    Ok(Outcome::Done)
}

/// Also those that need the releases before, and what the release's wheels export.
fn lints(api: &Api, parsed: Vec<Api>, args: &Args, place: &Place) -> Result {
    let mut apis = snapshots::until(place, args.release)?;
    if args.headers.is_some() {
        apis.retain(|known| known.release != api.release);
        apis.extend(parsed);
    }
    let found = lint::all(api, &History::of(&apis), &Symbols::at(place)?);
    let rows = found.iter().map(
        |Lint {
             id,
             item,
             message,
             loc,
         }| { format!("{}:{}: {id}: {item}: {message}\n", loc.file, loc.line) },
    );
    diagnostic::print(&rows.collect::<String>())?;
    Ok(match found.is_empty() {
        true => Outcome::Done,
        false => Outcome::Found,
    })
}

fn minor(args: &Args) -> String {
    args.release.minor().to_string()
}

fn parse(root: &Path, args: &Args, place: &Place) -> Result<Vec<Api>> {
    let library = Library::load()?;
    eprintln!("reading with {}", library.version());
    let newest = snapshots::newest_release(place, Some(args.release))?;
    let baseline = newest.map(|newest| snapshots::some(place, newest, &[&args.api]));
    let baseline = baseline.transpose()?.unwrap_or_default();
    Ok(crate::extract(root, &minor(args), &args.target, baseline)?)
}

fn names(apis: &[Api]) -> Vec<String> {
    apis.iter().map(|api| api.name.clone()).collect()
}

/// The checkout's or the cache's snapshot, which may be newer than the binary's.
fn read(args: &Args, place: &Place) -> Result<Api> {
    let name = format!("{}/{}.json", args.api, minor(args));
    let stored = fs::read_to_string(place.snapshots.join(&name)).ok();
    let embedded = || {
        let found = SNAPSHOTS.iter().find(|(file, _)| *file == name);
        found.map(|(_, text)| (*text).to_string())
    };
    let text = stored
        .or_else(embedded)
        .ok_or_else(|| unknown(args, carried()))?;
    Api::from_json(&text).into_diagnostic().wrap_err(name)
}

/// The snapshots in the binary, as `kernels at 2.21`.
fn carried() -> Vec<String> {
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
