//! `sp-gen generate [--release R] [--out DIR] [--check] [--docs upstream]`: the sp-abi crate from the
//! committed IR.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miette::{Context, IntoDiagnostic, miette};

use crate::diagnostic::{Outcome, Result};
use sp_ir::{Api, History};

use crate::emit::{Files, disk, emit, upstream};
use crate::import::place::{Place, checkout};
use crate::import::release::Release;
use crate::import::store::Store;
use crate::lint;
use crate::snapshots;
use crate::symbols::Symbols;

/// Lines of a drifted file's diff that are shown.
const SHOWN: usize = 24;

/// Arguments of `generate`.
#[derive(clap::Args)]
pub struct Args {
    /// The newest release that the crate shall know; the newest snapshots if absent
    #[arg(long, value_name = "R")]
    release: Option<Release>,
    /// Where the crate goes; the checkout's generated/ if absent
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write nothing; exit 1 where the files on disk differ
    #[arg(long)]
    check: bool,
    /// Whose sentences the docs are; `upstream` needs the release's headers, libclang and `--out`
    #[arg(long, value_enum, default_value_t = Docs::Own, value_name = "WHOSE")]
    docs: Docs,
}

/// Where docs come from.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Docs {
    /// Ours.
    Own,
    /// The headers' own comments.
    Upstream,
}

/// Writes the crate, or compares it.
pub fn run(args: Args) -> Result {
    let here = std::env::current_dir().into_diagnostic()?;
    let place = Place::find(&here)?;
    let out = match (args.out, checkout(&here)) {
        (Some(out), _) => out,
        (None, Some(root)) => root.join("generated"),
        (None, None) => return Err(homeless()),
    };
    let mut apis = snapshots::of(&place, args.release)?;
    if args.docs == Docs::Upstream {
        quote_headers(&mut apis, &place, &out, &here)?;
    }
    let symbols = Symbols::at(&place)?;
    let files = emit(&apis, &symbols)?;
    if args.check {
        return check(&out, &files);
    }
    if write(&out, &files)? {
        warn(&apis, &symbols);
    }
    Ok(Outcome::Done)
}

/// Says of the newest release where its headers contradict their own rules, a line for each API.
fn warn(apis: &[Api], symbols: &Symbols) {
    let release = |api: &Api| api.release.parse::<Release>().ok();
    let newest = apis.iter().filter_map(release).max();
    let history = History::of(apis);
    for api in apis.iter().filter(|api| release(api) == newest) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for found in lint::all(api, &history, symbols) {
            *counts.entry(found.id).or_default() += 1;
        }
        if !counts.is_empty() {
            let counts: Vec<String> = counts.iter().map(|(id, n)| format!("{n} {id}")).collect();
            let (name, counts) = (&api.name, counts.join(", "));
            eprintln!("{name}: {counts} (sp-gen ir {name} --lints)");
        }
    }
}

/// Takes docs from the headers of the newest release, for a crate that nobody commits.
fn quote_headers(apis: &mut [Api], place: &Place, out: &Path, here: &Path) -> Result<()> {
    let committed = checkout(here).map(|root| root.join("generated"));
    if committed.is_some_and(|it| same(&it, out)) {
        return Err(miette!(
            code = "sp_gen::generate::upstream_docs",
            help = "say `--out DIR`, with a folder that is not the checkout's generated/",
            "the headers' own comments do not go into what is committed"
        ));
    }
    let releases = apis.iter().filter_map(|api| api.release.parse().ok());
    let newest: Option<Release> = releases.max();
    let store = Store::at(place.store.clone());
    let exact = newest.and_then(|release| store.resolve(release));
    let (Some(newest), Some(exact)) = (newest, exact) else {
        let newest = newest.map_or_else(String::new, |it| it.to_string());
        return Err(miette!(
            code = "sp_gen::generate::headers_missing",
            help = "`sp-gen import tensorflow {newest}` brings them",
            "the headers of TensorFlow {newest} are not in {}",
            place.store.display()
        ));
    };
    let put = upstream::annotate(apis, &newest.to_string(), &store.include(exact))?;
    eprintln!("{put} comments of TensorFlow {exact}'s headers");
    Ok(())
}

fn same(left: &Path, right: &Path) -> bool {
    match (left.canonicalize(), right.canonicalize()) {
        (Ok(left), Ok(right)) => left == right,
        _ => left == right,
    }
}

fn homeless() -> miette::Report {
    miette!(
        code = "sp_gen::generate::homeless",
        help = "run it inside a checkout of sp-gen, or say `--out DIR`",
        "there is no place for the generated crate here"
    )
}

fn check(out: &Path, files: &Files) -> Result {
    let drifts = drift(out, files)?;
    for drift in &drifts {
        println!("{}\n{}", out.join(&drift.path).display(), drift.diff(SHOWN));
    }
    if drifts.is_empty() {
        eprintln!("{}: {} files as generated", out.display(), files.len());
        return Ok(Outcome::Done);
    }
    eprintln!(
        "{} of {} files drifted; `sp-gen generate` writes them",
        drifts.len(),
        files.len()
    );
    Ok(Outcome::Found)
}

/// Whether anything changed.
fn write(out: &Path, files: &Files) -> Result<bool> {
    let drifts = drift(out, files)?;
    if !drifts.is_empty() {
        disk::replace(out, files)
            .into_diagnostic()
            .wrap_err_with(|| format!("{} cannot be written", out.display()))?;
    }
    for drift in &drifts {
        let done = if drift.new.is_some() {
            "wrote"
        } else {
            "removed"
        };
        println!("{done} {}", out.join(&drift.path).display());
    }
    eprintln!(
        "{}: {} files, {} changed",
        out.display(),
        files.len(),
        drifts.len()
    );
    Ok(!drifts.is_empty())
}

fn drift(out: &Path, files: &Files) -> Result<Vec<disk::Drift>> {
    let read = disk::drift(out, files).into_diagnostic();
    read.wrap_err_with(|| format!("{} cannot be read", out.display()))
}
