//! The command line: one file per command, each thin: parse, call, print.
//!
//! A command's file has `Args` (a `clap::Args`) and `run(Args) -> diagnostic::Result`; it is
//! listed here in three places: `mod`, a variant, a line of `run`.

pub mod completions;

use crate::diagnostic::Result;
use clap::Subcommand;

/// What `sp-gen` can do.
#[derive(Subcommand)]
pub enum Command {
    /// Print a completion script for a shell
    Completions(completions::Args),
}

impl Command {
    /// Runs the command to its outcome.
    pub fn run(self) -> Result {
        match self {
            Self::Completions(args) => completions::run(args),
        }
    }
}
