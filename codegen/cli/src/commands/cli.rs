//! The command line: options of every command, and the command.

use super::Command;
use crate::console;
use clap::Parser;

/// Write, check and update TensorFlow plugins, and compare the C plugin APIs of TensorFlow's releases.
#[derive(Parser)]
#[command(name = "sp-gen", version, arg_required_else_help = true, after_help = EXIT_STATUS)]
pub struct Cli {
    /// The options of every command.
    #[command(flatten)]
    pub console: console::ConsoleArgs,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_STATUS: &str = "\
Examples:
  sp-gen new myaccel              write a plugin that builds and runs
  sp-gen diff 2.20 2.21           print what 2.21 changed for plugins
  sp-gen verify libmyaccel.so     check a built plugin

Exit status: 0 done, 1 something was found (such as a breaking change or an outdated file), 2 the command failed.";
