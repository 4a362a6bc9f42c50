//! `sp-gen man <DIR>`: writes the manual pages.

use super::Cli;
use crate::console;
use crate::diagnostic::{CommandOutcome, Result};
use clap::CommandFactory;
use miette::{Context, IntoDiagnostic, miette};
use std::fs;
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
    if let Some(page) = foreign_page(&args.folder) {
        return Err(miette!(
            code = "sp_gen::man::foreign_page",
            help = "remove it, or use another folder",
            "{} is not a manual page of sp-gen",
            page.display()
        ));
    }
    let unwritable = || format!("{} cannot be written", args.folder.display());
    let created = fs::create_dir_all(&args.folder).into_diagnostic();
    created.wrap_err_with(unwritable)?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let commands = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let mut paths = String::new();
    for command in std::iter::once(&command).chain(commands) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = args.folder.join(format!("{name}.1"));
        let mut page = Vec::new();
        let man = clap_mangen::Man::new(command.clone());
        man.render(&mut page).into_diagnostic()?;
        let written = fs::write(&path, page).into_diagnostic();
        written.wrap_err_with(unwritable)?;
        paths += &format!("{}\n", path.display());
    }
    console::print(&paths)?;
    Ok(CommandOutcome::Done)
}

/// Returns a file in `folder` that has the name of a page and that `man` did not write.
fn foreign_page(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let names = entries.map(|entry| entry.path());
    let mut pages = names.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("sp-gen") && name.ends_with(".1")
    });
    pages.find(|path| {
        let text = fs::read_to_string(path).unwrap_or_default();
        !text.contains(".TH sp-gen")
    })
}
