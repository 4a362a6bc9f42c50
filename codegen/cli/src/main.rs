//! The `sp-gen` command: parse, run, report.
//!
//! Exit status: 0 done, 1 something was found (drift, a break), 2 the tool could not do its work.

use clap::Parser;
use sp_gen::commands::Cli;
use sp_gen::{console, diagnostic, verify};
use std::process::ExitCode;

fn main() -> ExitCode {
    end_with_the_reader();
    diagnostic::install();
    sp_system::temporary::call_on_signal(sp_host::kill_children);
    if let Err(report) = verify::run_child() {
        return diagnostic::exit(Err(report));
    }
    match Cli::try_parse() {
        Ok(cli) => {
            console::configure(cli.console);
            diagnostic::exit(cli.command.run())
        }
        Err(error) => {
            let color = console::color_in(
                std::env::args_os().map(|one| one.to_string_lossy().into_owned()),
            );
            console::configure(console::Args {
                color,
                quiet: false,
            });
            diagnostic::exit_usage(&error)
        }
    }
}

/// Lets a closed pipe end the process, as it ends other tools: `sp-gen history | head`.
fn end_with_the_reader() {
    #[cfg(unix)]
    // SAFETY: restores the signal's default before any thread exists.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}
