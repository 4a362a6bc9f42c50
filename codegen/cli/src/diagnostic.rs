//! How a command ends: the exit status, and how a failure is shown.
//!
//! Every failure has one form, whoever reports it: `error: MESSAGE [CODE]`, the causes, the line of a file that it is
//! about, and what to do. `console` writes; this module formats.

mod handler;
mod snippet;
mod usage;

use crate::console;
use miette::Report;
use std::process::ExitCode;

pub use usage::exit_usage;

/// What a command that did its work found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to report: exit status 0.
    Done,
    /// What was looked for is there, such as drift or a break: exit status 1.
    Found,
    /// A part of the work could not be done, and a diagnostic says which: exit status 2.
    Incomplete,
}

/// What every command returns; a failure exits with status 2.
pub type Result<T = Outcome> = miette::Result<T>;

/// Sets up how failures are formatted. Call once, before anything can fail.
pub fn install() {
    // Fails only if a hook is already set, which then stays.
    let _ = miette::set_hook(Box::new(|_| Box::new(handler::Handler)));
}

/// Prints a failure to stderr and turns the outcome into the exit status.
pub fn exit(outcome: Result) -> ExitCode {
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Ok(Outcome::Incomplete) => ExitCode::from(2),
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
