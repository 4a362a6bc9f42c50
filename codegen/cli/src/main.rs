//! The `sp-gen` command: parse, run, report.
//!
//! Exit status: 0 done, 1 something was found (drift, a break), 2 the tool could not do its work.

use clap::Parser;
use sp_gen::{commands::Command, diagnostic, verify};
use std::process::ExitCode;

/// Rust plugins for TensorFlow, from its own C headers.
#[derive(Parser)]
#[command(name = "sp-gen", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    end_with_the_reader();
    diagnostic::install();
    if let Err(report) = verify::serve() {
        return diagnostic::exit(Err(report));
    }
    diagnostic::exit(Cli::parse().command.run())
}

/// Lets a closed pipe end the process, as it ends other tools: `sp-gen history | head`.
fn end_with_the_reader() {
    #[cfg(unix)]
    // SAFETY: restores the signal's default before any thread exists.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}
