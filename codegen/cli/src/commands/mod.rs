//! The commands. Each file has one command, which parses its arguments, calls the library and prints the result.
//!
//! A command's file has `Args` (a `clap::Args`) and `run(Args) -> diagnostic::Result`. A new command is listed here in
//! three places: `mod`, a variant of [`Command`], a line of [`Command::run`].

mod cli;
pub mod completions;
pub mod coverage;
pub mod diff;
pub mod doctor;
pub mod explain;
pub mod generate;
pub mod history;
pub mod import;
pub mod ir;
pub mod layer;
pub mod man;
pub mod new;
mod next_pluggable_device;
pub mod ops;
pub mod port;
pub mod replay;
pub mod update;
pub mod verify;

pub use cli::Cli;

use crate::console::warning;
use crate::diagnostic::Result;
use clap::{Subcommand, ValueEnum};
use sp_data::folders::{TRUST_CHECKOUT, find_untrusted_checkout};

/// Output format of a command that prints for people or for programs.
#[derive(Clone, Copy, ValueEnum)]
enum TextOrJson {
    /// Text for a terminal
    Text,
    /// JSON for programs
    Json,
}

/// The commands of `sp-gen`.
#[derive(Subcommand)]
pub enum Command {
    /// Write a new plugin: about ten source files, and the sp-* crates that it depends on
    New(new::Args),
    /// Read the headers of TensorFlow releases from wheels into the store, and write snapshots of their APIs
    Import(import::Args),
    /// Write the sp-abi crate or C headers from snapshots or from headers
    Generate(generate::Args),
    /// Print the structs and functions of an API, from a snapshot or from headers
    Ir(ir::Args),
    /// Print the inputs, outputs and attributes of TensorFlow's ops, by release
    Ops(ops::Args),
    /// Print the differences between two releases, and their effect on plugins
    Diff(diff::Args),
    /// Print the changes of an API, a struct or a function over the releases
    History(history::Args),
    /// Print the description of a rule of `diff`, `ir --lints` or `port`, or of a check of `verify`
    Explain(explain::Args),
    /// Check that a built plugin, in any language, follows TensorFlow's contract
    Verify(verify::Args),
    /// Write skeletons in Rust of the kernels and ops that C++ sources register
    Port(port::Args),
    /// Find out why TensorFlow does not list a plugin's device
    Doctor(doctor::Args),
    /// Run a program and show, or check, every call between TensorFlow and a plugin
    Layer(layer::Args),
    /// Repeat the kernel calls of a capture of `layer`, and compare what they compute
    Replay(replay::Args),
    /// Run a program and print which kernel computed each of its ops, and what to write next
    Coverage(coverage::Args),
    /// Replace a plugin's vendored crates by those of this sp-gen, and update its Cargo.lock
    Update(update::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Write the manual pages to a folder
    Man(man::Args),
}

impl Command {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if the command cannot do its work.
    pub fn run(self) -> Result {
        warn_of_untrusted_checkout();
        match self {
            Self::New(args) => new::run(args),
            Self::Import(args) => import::run(args),
            Self::Generate(args) => generate::run(args),
            Self::Ir(args) => ir::run(args),
            Self::Ops(args) => ops::run(args),
            Self::Diff(args) => diff::run(args),
            Self::History(args) => history::run(args),
            Self::Explain(args) => explain::run(args),
            Self::Verify(args) => verify::run(args),
            Self::Port(args) => port::run(args),
            Self::Doctor(args) => doctor::run(args),
            Self::Layer(args) => layer::run(args),
            Self::Replay(args) => replay::run(args),
            Self::Coverage(args) => coverage::run(args),
            Self::Update(args) => update::run(args),
            Self::Completions(args) => completions::run(args),
            Self::Man(args) => man::run(args),
        }
    }
}

/// Prints a line if the current directory is in a checkout of another user, which is not used.
fn warn_of_untrusted_checkout() {
    let current_dir = std::env::current_dir().ok();
    if let Some(root) = current_dir.and_then(|folder| find_untrusted_checkout(&folder)) {
        warning!(
            "{}: checkout of sp-gen not used, since it belongs to another user; if you trust its files, set {TRUST_CHECKOUT}=1",
            root.display()
        );
    }
}
