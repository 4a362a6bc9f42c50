//! `sp-gen completions <SHELL>`: a completion script on stdout.

use super::Command;
use crate::diagnostic::{Outcome, Result};
use clap::Subcommand;
use clap_complete::Shell;

/// Arguments of `completions`.
#[derive(clap::Args)]
pub struct Args {
    /// The shell to complete for
    shell: Shell,
}

/// Writes the script.
pub fn run(args: Args) -> Result {
    let mut command = Command::augment_subcommands(clap::Command::new("sp-gen"));
    clap_complete::generate(args.shell, &mut command, "sp-gen", &mut std::io::stdout());
    Ok(Outcome::Done)
}
