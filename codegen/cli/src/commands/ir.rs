//! `sp-gen ir [<API>]`: what sp-gen knows of an API, from a release's snapshot or from headers.

mod lints;
mod list;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use lints::Lints;
use miette::{Diagnostic, IntoDiagnostic};
use sp_ir::Api;
use thiserror::Error;

use crate::console::{self, note};
use crate::diagnostic::{Outcome, Result};
use crate::operand;
use sp_data::embedded::SNAPSHOTS;
use sp_data::folders::DataFolders;
use sp_data::release::{Release, RequestedRelease};
use sp_data::snapshots;
use sp_data::suggest;
use sp_parse::clang::{DEFAULT_TARGET, Library};
use sp_parse::contract::ExcludedHeaders;
use sp_parse::contract::{KnownNames, Notes};
use sp_parse::extract::{Job, extract_with};

const EXAMPLES: &str = "\
Examples:
  sp-gen ir                                      the APIs of the newest release
  sp-gen ir kernels --release 2.12               the structs and functions of one
  sp-gen ir kernels --headers path/to/include    the same, parsed from headers
  sp-gen ir pjrt --lints                         where its headers contradict their own rules";

/// Arguments of `ir`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The API: stream_executor, kernels, ...; lists the APIs if absent
    api: Option<String>,
    /// The release whose snapshot is read, the newest final one if absent; with --headers, the release that they
    /// are of, if not the one that they state
    #[arg(long, value_name = "R")]
    release: Option<RequestedRelease>,
    /// Parse the headers under this include root instead
    #[arg(long, value_name = "INCLUDE_ROOT")]
    headers: Option<PathBuf>,
    /// The target whose layouts are printed
    #[arg(long, default_value = DEFAULT_TARGET, requires = "headers")]
    target: String,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Tree)]
    format: Format,
    /// Print instead where the headers contradict their own rules; exit 1 where they do
    #[arg(long, requires = "api")]
    lints: bool,
}

/// How to print an API.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For programs; an API in the snapshot's form
    Json,
    /// For reading
    Tree,
}

/// There is no such API or snapshot.
#[derive(Debug, Error, Diagnostic)]
#[error("there is no `{api}` at {release}")]
#[diagnostic(code(sp_gen::ir::unknown), help("{help}"))]
struct Unknown {
    api: String,
    release: String,
    help: String,
}

/// No snapshot is there of any final release.
#[derive(Debug, Error, Diagnostic)]
#[error("there are no snapshots of a final release")]
#[diagnostic(
    code(sp_gen::ir::no_release),
    help("`sp-gen import tensorflow RELEASE` writes them")
)]
struct NoRelease;

/// Prints the API, or the list of APIs.
pub fn run(args: Args) -> Result {
    let place = operand::readable_place(&std::env::current_dir().into_diagnostic()?);
    let release = release(&args, &place)?;
    let parsed = match &args.headers {
        Some(root) => parse(root, &args, release, &place)?,
        None => Vec::new(),
    };
    let Some(name) = &args.api else {
        let apis = match args.headers {
            Some(_) => parsed,
            None => all(release, &place)?,
        };
        return print(match args.format {
            Format::Json => list::json(&apis),
            Format::Tree => list::text(&apis),
        });
    };
    let api = match args.headers {
        Some(_) => parsed.iter().find(|api| api.name == *name).cloned(),
        None => find(name, release, &place)?,
    };
    let api = api.ok_or_else(|| unknown(name, release, &place))?;
    match args.lints {
        true => print_lints(&Lints::of(&api, parsed, release, &place)?, args.format),
        false => print(match args.format {
            Format::Json => api.to_json(),
            Format::Tree => crate::tree::draw(&api),
        }),
    }
}

fn print(text: String) -> Result {
    console::print(&text)?;
    Ok(Outcome::Done)
}

fn print_lints(lints: &Lints, format: Format) -> Result {
    console::print(&match format {
        Format::Json => lints.json(),
        Format::Tree => lints.text(),
    })?;
    Ok(match lints.is_empty() {
        true => Outcome::Done,
        false => Outcome::Found,
    })
}

/// Returns the release that is asked for, that the headers state, or the newest final one.
fn release(args: &Args, place: &DataFolders) -> Result<Release> {
    if let Some(release) = args.release {
        return Ok(operand::resolve(release)?);
    }
    let newest = || newest_final(place);
    let Some(root) = &args.headers else {
        return newest();
    };
    if let Some(release) = operand::release_of_headers(root) {
        note!("{}: headers of TensorFlow {release}", root.display());
        return Ok(release);
    }
    let release = newest()?;
    note!(
        "{} does not state its release and is read as {release}: `--release R` states it",
        root.display()
    );
    Ok(release)
}

/// Returns the newest release whose snapshots are not of a preview.
fn newest_final(place: &DataFolders) -> Result<Release> {
    for release in snapshots::releases(place)?.into_iter().rev() {
        let apis = snapshots::read_release(place, release)?.unwrap_or_default();
        if apis.iter().all(|api| api.preview.is_none()) {
            return Ok(release);
        }
    }
    Err(NoRelease.into())
}

/// Reads the API from headers; what these include of other APIs comes with it.
fn parse(root: &Path, args: &Args, release: Release, place: &DataFolders) -> Result<Vec<Api>> {
    let library = Library::load()?;
    note!("reading with {}", library.version());
    let newest = snapshots::newest_release(place, Some(release))?;
    let only: Vec<String> = args.api.iter().cloned().collect();
    let baseline = newest.map(|newest| match &args.api {
        Some(api) => snapshots::read_apis(place, newest, &[api]),
        None => snapshots::read_newest(place, Some(newest)),
    });
    let baseline = baseline.transpose()?.unwrap_or_default();
    let (notes, excluded) = (Notes::all()?, ExcludedHeaders::embedded()?);
    let job = Job {
        notes: &notes,
        excluded: &excluded,
        known: &KnownNames::AtHand(baseline),
        include_root: root,
        release: &release.key().to_string(),
        only: &only,
    };
    let mut extracted = extract_with(&job, &args.target)?;
    let mut unread = std::mem::take(&mut extracted.unreadable).into_iter();
    if let Some(unread) = unread.find(|one| only.is_empty() || only.contains(&one.api)) {
        return Err(unread.into());
    }
    snapshots::mark_preview(&mut extracted.apis, release);
    Ok(extracted.apis)
}

/// Returns every API of the release.
fn all(release: Release, place: &DataFolders) -> Result<Vec<Api>> {
    let apis = snapshots::read_release(place, release)?;
    Ok(apis.ok_or_else(|| operand::unknown_release(release, place))?)
}

/// Returns the snapshot of the checkout or the cache, which may be newer than the binary's.
fn find(api: &str, release: Release, place: &DataFolders) -> Result<Option<Api>> {
    let apis = snapshots::read_apis(place, release, &[api])?;
    Ok(apis.into_iter().next().or_else(|| carried(api, release)))
}

/// Returns the snapshot in the binary.
fn carried(api: &str, release: Release) -> Option<Api> {
    let name = format!("{api}/{}.json", release.key());
    let found = SNAPSHOTS.iter().find(|(file, _)| *file == name);
    let api = Api::from_json(found?.1).ok()?;
    snapshots::is_version(&api, release).then_some(api)
}

/// Returns the error for an API that the release does not have, or for a release that is not known.
fn unknown(api: &str, release: Release, place: &DataFolders) -> miette::Report {
    let apis = match all(release, place) {
        Ok(apis) => apis,
        Err(report) => return report,
    };
    let known: Vec<&str> = apis.iter().map(|api| api.name.as_str()).collect();
    let list = format!("known at {release}: {}", known.join(", "));
    Unknown {
        api: api.into(),
        release: release.to_string(),
        help: suggest::with_suggestion(api, known.iter().copied(), list),
    }
    .into()
}
