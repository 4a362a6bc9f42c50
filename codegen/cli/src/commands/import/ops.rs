//! `sp-gen import tensorflow --ops`: imports the op definitions of an installed TensorFlow.

use super::{Bar, ReleaseChoice, new_progress_bars};
use crate::console::note;
use crate::diagnostic::{CommandOutcome, Result};
use miette::miette;
use sp_data::folders::DataFolders;
use sp_data::release::RequestedRelease;
use sp_fetch::Progress;
use sp_fetch::ops::{ImportedOps, OpImportRequest, import};
use std::path::PathBuf;

/// The Python that is run unless `--from` names one.
const PYTHON: &str = "python3";

/// The largest number of names in a line of the summary.
const LISTED: usize = 8;

/// Imports the ops and prints a summary.
pub fn run(from: Option<PathBuf>, releases: &[ReleaseChoice], folders: DataFolders) -> Result {
    let request = OpImportRequest {
        python: python(from),
        release: single_release(releases)?,
        folders,
    };
    let (bars, python) = (new_progress_bars(), request.python.display());
    let mut bar = Bar::new(&bars);
    bar.stage(&format!("loading the TensorFlow of {python}"), None);
    let imported = import(&request);
    bar.0.finish_and_clear();
    report(&imported?);
    Ok(CommandOutcome::Done)
}

/// Returns the Python of `--from`: of an environment's folder, or a program.
fn python(from: Option<PathBuf>) -> PathBuf {
    match from {
        Some(folder) if folder.is_dir() => folder.join("bin/python"),
        Some(program) => program,
        None => PYTHON.into(),
    }
}

fn single_release(releases: &[ReleaseChoice]) -> Result<Option<RequestedRelease>> {
    match releases {
        [] => Ok(None),
        [ReleaseChoice::One(release)] => Ok(Some(*release)),
        _ => Err(miette!(
            code = "sp_gen::ops::several_releases",
            help = "name one release or none; run the command once for each environment",
            "`--ops` reads one installed TensorFlow"
        )),
    }
}

fn report(imported: &ImportedOps) {
    let ImportedOps {
        version,
        ops,
        table,
        ..
    } = imported;
    let table = table.display();
    match imported.is_written {
        true => note!("TensorFlow {version}: {ops} ops, written to {table}"),
        false => note!("TensorFlow {version}: {ops} ops; {table} is up to date"),
    }
    let Some(previous) = imported.previous else {
        return;
    };
    for (verb, names) in [
        ("added", &imported.added),
        ("removed", &imported.removed),
        ("changed", &imported.changed),
    ] {
        if !names.is_empty() {
            note!("  {verb} since {previous}: {}", list(names));
        }
    }
}

/// Returns the number of names and the first of them.
fn list(names: &[String]) -> String {
    let shown = names.iter().take(LISTED).cloned().collect::<Vec<_>>();
    let shown = shown.join(", ");
    match names.len() > LISTED {
        true => format!("{}: {shown}, ...", names.len()),
        false => format!("{}: {shown}", names.len()),
    }
}
