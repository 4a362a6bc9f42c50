//! `sp-gen ir <API>`: what sp-gen knows of an API, from a release's snapshot or from headers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use miette::{Diagnostic, IntoDiagnostic};
use sp_ir::{Api, History};
use thiserror::Error;

use crate::clang::{DEFAULT_TARGET, Library};
use crate::contract::{Known, Notes};
use crate::diagnostic::{self, Outcome, Result};
use crate::embedded::SNAPSHOTS;
use crate::extract::{Job, LeftOut, extract_with};
use crate::import::place::Place;
use crate::import::release::{Release, Requested};
use crate::import::snapshot::mark_preview;
use crate::lint::{self, Lint};
use crate::operand;
use crate::snapshots;
use crate::symbols::Symbols;

/// Arguments of `ir`.
#[derive(clap::Args)]
pub struct Args {
    /// The API: stream_executor, kernels, ...
    api: String,
    /// The release whose snapshot is read; with --headers, the release they are of
    #[arg(long, default_value = "2.21")]
    release: Requested,
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
    let release = operand::resolve(args.release)?;
    let apis = match &args.headers {
        Some(root) => parse(root, &args, release, &place)?,
        None => Vec::new(),
    };
    let parsed = apis.iter().find(|api| api.name == args.api).cloned();
    let api = match (&args.headers, parsed) {
        (Some(_), None) => return Err(unknown(&args.api, release, known_apis()?).into()),
        (_, Some(api)) => api,
        (None, None) => read(&args.api, release, &place)?,
    };
    if args.lints {
        return lints(&api, apis, release, &place);
    }
    diagnostic::print(&match args.format {
        Format::Json => api.to_json(),
        Format::Tree => crate::tree::draw(&api),
    })?;
    Ok(Outcome::Done)
}

/// Also those that need the releases before, and what the release's wheels export.
fn lints(api: &Api, parsed: Vec<Api>, release: Release, place: &Place) -> Result {
    let mut apis = snapshots::until(place, release)?;
    if !parsed.is_empty() {
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
    diagnostic::print(&(rows.collect::<String>() + &exceptions(api)))?;
    Ok(match found.is_empty() {
        true => Outcome::Done,
        false => Outcome::Found,
    })
}

/// The items that need not keep the headers' conventions, and why.
fn exceptions(api: &Api) -> String {
    let stated = lint::conventions::of_api(&api.name);
    let excepted = stated.map_or_else(Vec::new, |it| lint::conventions::excepted(api, it));
    let row = |(lint, reason): &(Lint, String)| {
        let Lint { id, item, loc, .. } = lint;
        format!(
            "{}:{}: accepted: {id}: {item}: {reason}\n",
            loc.file, loc.line
        )
    };
    excepted.iter().map(row).collect()
}

/// Reads the API from headers; what these include of other APIs comes with it.
fn parse(root: &Path, args: &Args, release: Release, place: &Place) -> Result<Vec<Api>> {
    let library = Library::load()?;
    eprintln!("reading with {}", library.version());
    let newest = snapshots::newest_release(place, Some(release))?;
    let baseline = newest.map(|newest| snapshots::some(place, newest, &[&args.api]));
    let baseline = baseline.transpose()?.unwrap_or_default();
    let (notes, left_out) = (Notes::all()?, LeftOut::embedded()?);
    let job = Job {
        notes: &notes,
        left_out: &left_out,
        known: &Known::AtHand(baseline),
        include_root: root,
        release: &release.key().to_string(),
        only: std::slice::from_ref(&args.api),
    };
    let mut extracted = extract_with(&job, &args.target)?;
    let mut unread = std::mem::take(&mut extracted.unread).into_iter();
    if let Some(unread) = unread.find(|one| one.api == args.api) {
        return Err(unread.into());
    }
    mark_preview(&mut extracted.apis, release);
    Ok(extracted.apis)
}

/// The APIs that there are notes of.
fn known_apis() -> Result<Vec<String>> {
    Ok(Notes::all()?.into_iter().map(|notes| notes.api).collect())
}

/// Reads the snapshot of the checkout or the cache, which may be newer than the binary's.
fn read(api: &str, release: Release, place: &Place) -> Result<Api> {
    let apis = snapshots::some(place, release, &[api])?;
    let found = apis.into_iter().next().or_else(|| carried(api, release));
    Ok(found.ok_or_else(|| unknown(api, release, all_carried()))?)
}

/// The snapshot in the binary.
fn carried(api: &str, release: Release) -> Option<Api> {
    let name = format!("{api}/{}.json", release.key());
    let found = SNAPSHOTS.iter().find(|(file, _)| *file == name);
    let api = Api::from_json(found?.1).ok()?;
    snapshots::holds(&api, release).then_some(api)
}

/// The snapshots in the binary, as `kernels at 2.21`.
fn all_carried() -> Vec<String> {
    let names = SNAPSHOTS
        .iter()
        .filter_map(|(file, _)| file.strip_suffix(".json"));
    names.map(|name| name.replace('/', " at ")).collect()
}

fn unknown(api: &str, release: Release, known: Vec<String>) -> Unknown {
    let known: BTreeSet<String> = known.into_iter().collect();
    Unknown {
        api: api.into(),
        release: release.to_string(),
        known: known.into_iter().collect::<Vec<_>>().join(", "),
    }
}
