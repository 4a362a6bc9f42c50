//! The whole command line.

use super::Command;
use crate::console;
use clap::Parser;

/// Rust plugins for TensorFlow, from its own C headers.
#[derive(Parser)]
#[command(name = "sp-gen", version, arg_required_else_help = true, after_help = EXIT_STATUS)]
pub struct Cli {
    /// The options of every command.
    #[command(flatten)]
    pub console: console::Args,
    /// The advice.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_STATUS: &str = "\
Examples:
  sp-gen new myaccel              a plugin that builds and runs
  sp-gen diff 2.20 2.21           what a release changed for plugins
  sp-gen verify libmyaccel.so     whether a plugin keeps the contract

Exit status: 0 done, 1 something was found (drift, a break), 2 the command could not do its work.";
