//! `sp-gen completions <SHELL>`: prints a completion script.

use super::Cli;
use crate::console;
use crate::diagnostic::{CommandOutcome, Result};
use clap::CommandFactory;
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  sp-gen completions bash > ~/.local/share/bash-completion/completions/sp-gen
  sp-gen completions zsh > ~/.zfunc/_sp-gen";

/// Arguments of `completions`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub fn run(args: Args) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sp-gen", &mut script);
    console::print(&String::from_utf8_lossy(&script))?;
    Ok(CommandOutcome::Done)
}
