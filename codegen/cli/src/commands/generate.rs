//! `sp-gen generate [--release R] [--out DIR] [--check]`: the sp-abi crate from the committed IR.

use std::path::{Path, PathBuf};

use miette::{Context, IntoDiagnostic, miette};

use crate::diagnostic::{Outcome, Result};
use crate::emit::{Files, disk, emit, snapshots};
use crate::import::place::{Place, checkout};
use crate::import::release::Release;

/// Lines of a drifted file's diff that are shown.
const SHOWN: usize = 24;

/// Arguments of `generate`.
#[derive(clap::Args)]
pub struct Args {
    /// The release to generate from; the newest snapshots if absent
    #[arg(long, value_name = "R")]
    release: Option<Release>,
    /// Where the crate goes; the checkout's generated/ if absent
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write nothing; exit 1 where the files on disk differ
    #[arg(long)]
    check: bool,
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
    let files = emit(&snapshots::read(&place.snapshots, args.release)?)?;
    if args.check {
        check(&out, &files)
    } else {
        write(&out, &files)
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

fn write(out: &Path, files: &Files) -> Result {
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
    Ok(Outcome::Done)
}

fn drift(out: &Path, files: &Files) -> Result<Vec<disk::Drift>> {
    let read = disk::drift(out, files).into_diagnostic();
    read.wrap_err_with(|| format!("{} cannot be read", out.display()))
}
