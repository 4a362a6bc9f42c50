//! The command line: one file per command, each thin: parse, call, print.
//!
//! A command's file has `Args` (a `clap::Args`) and `run(Args) -> diagnostic::Result`; it is
//! listed here in three places: `mod`, a variant, a line of `run`.

mod cli;
pub mod completions;
pub mod diff;
pub mod doctor;
pub mod explain;
pub mod generate;
pub mod history;
pub mod import;
pub mod ir;
pub mod man;
pub mod new;
pub mod update;
pub mod verify;

pub use cli::Cli;

use crate::diagnostic::Result;
use clap::Subcommand;

/// What `sp-gen` can do.
#[derive(Subcommand)]
pub enum Command {
    /// Lay out a plugin: about ten short files, and the crates it stands on
    New(new::Args),
    /// Take a release's headers into the store, and write what they declare
    Import(import::Args),
    /// Write the sp-abi crate from the committed snapshots
    Generate(generate::Args),
    /// Show what sp-gen knows of an API
    Ir(ir::Args),
    /// Show what differs between two releases, and what that means for plugins
    Diff(diff::Args),
    /// Show what became of an API, a struct or a function over the releases
    History(history::Args),
    /// Show what a rule is about
    Explain(explain::Args),
    /// Ask a built plugin, in any language, whether it keeps TensorFlow's contract
    Verify(verify::Args),
    /// Show why TensorFlow does not list a plugin's device
    Doctor(doctor::Args),
    /// Bring a plugin's vendored crates to this sp-gen's
    Update(update::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Write the manual pages
    Man(man::Args),
}

impl Command {
    /// Runs the command to its outcome.
    pub fn run(self) -> Result {
        match self {
            Self::New(args) => new::run(args),
            Self::Import(args) => import::run(args),
            Self::Generate(args) => generate::run(args),
            Self::Ir(args) => ir::run(args),
            Self::Diff(args) => diff::run(args),
            Self::History(args) => history::run(args),
            Self::Explain(args) => explain::run(args),
            Self::Verify(args) => verify::run(args),
            Self::Doctor(args) => doctor::run(args),
            Self::Update(args) => update::run(args),
            Self::Completions(args) => completions::run(args),
            Self::Man(args) => man::run(args),
        }
    }
}
