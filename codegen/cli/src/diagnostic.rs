//! The exit status of a command and the format of diagnostics.
//!
//! Every failure has the same format: `error: MESSAGE [CODE]`, the line of a file that it is about, the causes, and
//! help. This module formats; `console` writes.

mod handler;
mod snippet;
mod usage;

use crate::console;
use miette::Report;
use std::process::ExitCode;

pub use usage::exit_usage;

/// Outcome of a command that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// Nothing to report: exit status 0.
    Done,
    /// Findings, such as outdated files or a breaking change: exit status 1.
    Found,
    /// A part of the work was not done, which a diagnostic reported: exit status 2.
    Incomplete,
    /// A program that the command has run ended with this exit status.
    Exit(u8),
}

/// Result of a command. An error has exit status 2.
pub type Result<T = CommandOutcome> = miette::Result<T>;

/// Installs the formatter of diagnostics. Must be called before the first failure.
pub fn install() {
    // Fails only if a hook is set already; that one remains in use.
    let _ = miette::set_hook(Box::new(|_| Box::new(handler::Handler)));
}

/// Returns the exit status of an outcome. Prints a failure to stderr.
pub fn exit(outcome: Result) -> ExitCode {
    match outcome {
        Ok(CommandOutcome::Done) => ExitCode::SUCCESS,
        Ok(CommandOutcome::Found) => ExitCode::from(1),
        Ok(CommandOutcome::Incomplete) => ExitCode::from(2),
        Ok(CommandOutcome::Exit(status)) => ExitCode::from(status),
        Err(report) => {
            show(&report);
            ExitCode::from(2)
        }
    }
}

/// Prints one diagnostic to stderr.
pub fn show(report: &Report) {
    console::write_stderr(format_args!("{report:?}"));
}
