//! `sp-gen ir [<API>]`: prints the IR of an API, from a release's snapshot or from headers.

mod lints;
mod list;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use lints::LintReport;
use miette::Diagnostic;
use sp_ir::Api;
use thiserror::Error;

use crate::console::{self, note};
use crate::diagnostic::{CommandOutcome, Result};
use crate::operand;
use sp_data::embedded::SNAPSHOTS;
use sp_data::folders::DataFolders;
use sp_data::release::{Release, RequestedRelease};
use sp_data::snapshots;
use sp_data::suggest;
use sp_parse::clang::{DEFAULT_TARGET, Library};
use sp_parse::contract::ExcludedHeaders;
use sp_parse::contract::{KnownNames, Notes};
use sp_parse::extract::{ExtractError, Job, extract_with};

const EXAMPLES: &str = "\
Examples:
  sp-gen ir                                      list the APIs of the newest release
  sp-gen ir kernels --release 2.12               print the structs and functions of an API
  sp-gen ir kernels --headers path/to/include    print them as parsed from headers
  sp-gen ir pjrt --lints                         print contradictions between headers and their own rules";

/// Arguments of `ir`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The API, such as stream_executor or kernels [default: list the APIs]
    api: Option<String>,
    /// The release whose snapshot is read [default: the newest final release]; with --headers, the release of the
    /// headers [default: the one that they state]
    #[arg(long, value_name = "R")]
    release: Option<RequestedRelease>,
    /// Parse the headers under this include root instead of reading a snapshot
    #[arg(long, value_name = "INCLUDE_ROOT")]
    headers: Option<PathBuf>,
    /// The target whose layouts are printed
    #[arg(long, default_value = DEFAULT_TARGET, requires = "headers")]
    target: String,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Tree)]
    format: Format,
    /// Print the contradictions between the headers and their own rules; exit with 1 if there are any
    #[arg(long, requires = "api")]
    lints: bool,
}

/// Output format of an API.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// JSON for programs, in the format of snapshots
    Json,
    /// Text for a terminal
    Tree,
}

/// The release has no API of that name.
#[derive(Debug, Error, Diagnostic)]
#[error("TensorFlow {release} has no API `{api}`")]
#[diagnostic(code(sp_gen::ir::unknown_api), help("{help}"))]
struct UnknownApi {
    api: String,
    release: String,
    help: String,
}

/// There are no snapshots of a final release.
#[derive(Debug, Error, Diagnostic)]
#[error("there are no snapshots of a final release")]
#[diagnostic(
    code(sp_gen::ir::no_final_release),
    help("`sp-gen import tensorflow RELEASE` writes them")
)]
struct NoFinalRelease;

/// Prints the API, or the list of APIs.
pub fn run(args: Args) -> Result {
    let folders = operand::readable_folders(&operand::current_folder()?);
    let release = select_release(&args, &folders)?;
    let parsed = match &args.headers {
        Some(root) => parse(root, &args, release, &folders)?,
        None => Vec::new(),
    };
    let Some(name) = &args.api else {
        let apis = match args.headers {
            Some(_) => parsed,
            None => read_all(release, &folders)?,
        };
        return print(match args.format {
            Format::Json => list::json(&apis),
            Format::Tree => list::text(&apis),
        });
    };
    let api = match args.headers {
        Some(_) => parsed.iter().find(|api| api.name == *name).cloned(),
        None => find_snapshot(name, release, &folders)?,
    };
    let api = api.ok_or_else(|| unknown_api(name, &args, release, &folders))?;
    match args.lints {
        true => print_lints(
            &LintReport::new(&api, parsed, release, &folders)?,
            args.format,
        ),
        false => print(match args.format {
            Format::Json => api.to_json(),
            Format::Tree => crate::tree::format_api(&api),
        }),
    }
}

fn print(text: String) -> Result {
    console::print(&text)?;
    Ok(CommandOutcome::Done)
}

fn print_lints(report: &LintReport, format: Format) -> Result {
    console::print(&match format {
        Format::Json => report.json(),
        Format::Tree => report.text(),
    })?;
    Ok(match report.is_empty() {
        true => CommandOutcome::Done,
        false => CommandOutcome::Found,
    })
}

/// Returns the requested release, else the one that the headers state, else the newest final one.
fn select_release(args: &Args, folders: &DataFolders) -> Result<Release> {
    if let Some(release) = args.release {
        return Ok(operand::resolve(release)?);
    }
    let newest = || newest_final(folders);
    let Some(root) = &args.headers else {
        return newest();
    };
    if let Some(release) = operand::release_of_headers(root) {
        note!("{}: headers of TensorFlow {release}", root.display());
        return Ok(release);
    }
    let release = newest()?;
    note!(
        "{}: the headers do not state their release; {release} is assumed, `--release R` sets it",
        root.display()
    );
    Ok(release)
}

/// Returns the newest final release that has snapshots.
fn newest_final(folders: &DataFolders) -> Result<Release> {
    for release in snapshots::releases(folders)?.into_iter().rev() {
        let apis = snapshots::read_release(folders, release)?.unwrap_or_default();
        if apis.iter().all(|api| api.preview.is_none()) {
            return Ok(release);
        }
    }
    Err(NoFinalRelease.into())
}

/// Parses headers: the requested API and the APIs that its headers include.
fn parse(root: &Path, args: &Args, release: Release, folders: &DataFolders) -> Result<Vec<Api>> {
    let library = Library::load()?;
    note!("parsing with {}", library.version());
    let newest = snapshots::newest_release(folders, Some(release))?;
    let only: Vec<String> = args.api.iter().cloned().collect();
    let baseline = newest.map(|newest| match &args.api {
        Some(api) => snapshots::read_apis(folders, newest, &[api]),
        None => snapshots::read_newest(folders, Some(newest)),
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
    if let Some(unread) = unread.find(|unread| only.is_empty() || only.contains(&unread.api)) {
        return Err(unread.into());
    }
    snapshots::mark_preview(&mut extracted.apis, release);
    Ok(extracted.apis)
}

/// Returns every API of the release.
fn read_all(release: Release, folders: &DataFolders) -> Result<Vec<Api>> {
    let apis = snapshots::read_release(folders, release)?;
    Ok(apis.ok_or_else(|| operand::unknown_release(release, folders))?)
}

/// Returns the snapshot of an API in the checkout or the cache, else the embedded one.
fn find_snapshot(api: &str, release: Release, folders: &DataFolders) -> Result<Option<Api>> {
    let apis = snapshots::read_apis(folders, release, &[api])?;
    Ok(apis
        .into_iter()
        .next()
        .or_else(|| embedded_snapshot(api, release)))
}

/// Returns the embedded snapshot of an API.
fn embedded_snapshot(api: &str, release: Release) -> Option<Api> {
    let name = format!("{api}/{}.json", release.key());
    let found = SNAPSHOTS.iter().find(|(file, _)| *file == name);
    let api = Api::from_json(found?.1.text()).ok()?;
    snapshots::is_version(&api, release).then_some(api)
}

/// Returns the error for an API that the release or its headers do not have, or for a release without snapshots.
fn unknown_api(api: &str, args: &Args, release: Release, folders: &DataFolders) -> miette::Report {
    let apis = match read_all(release, folders) {
        Ok(apis) => apis,
        Err(report) => return report,
    };
    let known: Vec<&str> = apis.iter().map(|api| api.name.as_str()).collect();
    if let (Some(root), true) = (&args.headers, known.contains(&api)) {
        let (root, api) = (root.clone(), format!("API {api}"));
        return ExtractError::NoHeaders { root, api }.into();
    }
    let list = format!("known at {release}: {}", known.join(", "));
    UnknownApi {
        api: api.into(),
        release: release.to_string(),
        help: suggest::with_suggestion(api, known.iter().copied(), list),
    }
    .into()
}
