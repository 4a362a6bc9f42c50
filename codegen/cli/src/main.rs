//! The `sp-gen` program: parses the command line, runs the command and reports failures.
//!
//! Exit status: 0 done, 1 something was found (such as a breaking change or an outdated file), 2 the command failed.

use clap::Parser;
use sp_gen::commands::Cli;
use sp_gen::{console, diagnostic, verify};
use std::process::ExitCode;

fn main() -> ExitCode {
    restore_sigpipe();
    diagnostic::install();
    sp_system::temporary::call_on_signal(sp_host::kill_children);
    sp_system::file_lock::call_on_wait(|path| {
        let path = path.display();
        console::write_note(format_args!(
            "waiting for {path}, which another process has locked"
        ));
    });
    if let Err(report) = verify::run_child() {
        return diagnostic::exit(Err(report));
    }
    ignore_file_limit();
    match Cli::try_parse() {
        Ok(cli) => {
            console::configure(cli.console);
            diagnostic::exit(cli.command.run())
        }
        Err(error) => {
            let color = console::color_in(
                std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()),
            );
            console::configure(console::ConsoleArgs {
                color,
                quiet: false,
            });
            diagnostic::exit_usage(&error)
        }
    }
}

/// Restores the default action of SIGPIPE, so that a closed pipe ends the process: `sp-gen history | head`.
fn restore_sigpipe() {
    #[cfg(unix)]
    // SAFETY: `signal` with SIG_DFL installs no handler, so no code of ours runs in a signal context. No other thread
    // exists yet that could change the action of SIGPIPE at the same time.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        // A child of `verify` inherits that it is ignored.
        libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
    }
}

/// Makes a write beyond the limit of a file's size an error, so that it is undone.
fn ignore_file_limit() {
    #[cfg(unix)]
    // SAFETY: `signal` with SIG_IGN installs no handler. No other thread exists yet.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
