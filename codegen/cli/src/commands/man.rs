//! `sp-gen man <DIR>`: writes the manual pages.

use super::Cli;
use crate::console;
use crate::diagnostic::{CommandOutcome, Result};
use crate::disk::{self, Drift};
use clap::CommandFactory;
use miette::{Context, IntoDiagnostic, miette};
use sp_system::input::{self, MAX_TEXT_BYTES};
use sp_system::replacement::{Fingerprint, recover};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  sp-gen man ~/.local/share/man/man1
  man sp-gen-diff";

/// Arguments of `man`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder for sp-gen.1 and a page for each command, such as ~/.local/share/man/man1
    folder: PathBuf,
}

/// Writes the pages and prints their paths.
pub fn run(args: Args) -> Result {
    recover(&args.folder)?;
    let pages = pages()?;
    let drifts: Vec<Drift> = pages
        .iter()
        .map(|(name, page)| drift(&args.folder, name, page))
        .collect::<Result<_>>()?;
    check_own(&args.folder, &drifts)?;
    let changed: Vec<Drift> = drifts.into_iter().filter(|it| it.old != it.new).collect();
    disk::apply(&args.folder, &changed)?;
    let line = |name: &String| format!("{}\n", args.folder.join(name).display());
    console::print(&pages.iter().map(|(name, _)| line(name)).collect::<String>())?;
    Ok(CommandOutcome::Done)
}

/// Returns the name and the text of each page.
fn pages() -> Result<Vec<(String, String)>> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let commands = command.get_subcommands().filter(|it| !it.is_hide_set());
    let page = |command: &clap::Command| {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let mut page = Vec::new();
        let man = clap_mangen::Man::new(command.clone());
        man.render(&mut page).into_diagnostic()?;
        let text = String::from_utf8(page).into_diagnostic()?;
        Ok((format!("{name}.1"), with_hash(&text)))
    };
    std::iter::once(&command)
        .chain(commands)
        .map(page)
        .collect()
}

/// First part of the comment in the last line of a page.
const HASH_COMMENT: &str = ".\\\" Written by sp-gen man; sha256 of the lines above: ";

/// Returns the page with its hash, by which `man` recognizes a page that nobody has edited.
fn with_hash(page: &str) -> String {
    let page = format!("{}\n", page.trim_end());
    let hash = Fingerprint::from_bytes(page.as_bytes());
    let hash = hash.0.values().next().cloned().unwrap_or_default();
    format!("{page}{HASH_COMMENT}{hash}\n")
}

/// Returns true if `man` wrote the page, and nobody has edited it.
fn is_own(page: &[u8]) -> bool {
    let text = String::from_utf8_lossy(page);
    let above = text.rsplit_once(HASH_COMMENT).map(|(above, _)| above);
    above.is_some_and(|above| with_hash(above) == text)
}

/// Returns the difference between a page on disk and the new one.
fn drift(folder: &Path, name: &str, page: &str) -> Result<Drift> {
    let path = folder.join(name);
    let old = match input::read(&path, MAX_TEXT_BYTES) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => {
            let unreadable = || format!("{} cannot be read", path.display());
            return Err(error).into_diagnostic().wrap_err_with(unreadable);
        }
    };
    Ok(Drift {
        path: name.to_owned(),
        old,
        new: Some(page.as_bytes().to_vec()),
    })
}

/// Rejects a page that `man` did not write.
fn check_own(folder: &Path, drifts: &[Drift]) -> Result<()> {
    let is_foreign = |drift: &&Drift| {
        let is_changed = drift.old != drift.new;
        is_changed && drift.old.as_ref().is_some_and(|page| !is_own(page))
    };
    match drifts.iter().find(is_foreign) {
        None => Ok(()),
        Some(drift) => Err(miette!(
            code = "sp_gen::man::foreign_page",
            help = "remove it, or use another folder",
            "{} was not written by sp-gen, or has been edited",
            folder.join(&drift.path).display()
        )),
    }
}
