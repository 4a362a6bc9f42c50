//! How a command ends: the exit status, and how a failure is shown.
//!
//! Results go to stdout and only results; everything here goes to stderr. Colour only on a
//! terminal, and never with NO_COLOR.

use crate::history::Paint;
use miette::{IntoDiagnostic, MietteHandlerOpts, Report};
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use textwrap::WordSplitter;

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

/// Sets up how failures are drawn. Call once, before anything can fail.
pub fn install() {
    // Fails only if a hook is already set, which then stays.
    let _ = miette::set_hook(Box::new(|_| Box::new(handler().build())));
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
    eprintln!("{report:?}");
}

/// Whether stderr may be coloured and redrawn (progress bars).
pub fn interactive() -> bool {
    std::io::stderr().is_terminal()
}

/// Writes results to stdout.
pub fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader such as `head` may have seen enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).into_diagnostic(),
        _ => Ok(()),
    }
}

/// Whether results are coloured: only on a terminal, and never with NO_COLOR.
pub fn paint() -> Paint {
    match std::io::stdout().is_terminal() && !no_color() {
        true => Paint::Ansi,
        false => Paint::Plain,
    }
}

/// Characters in a line of results: the terminal's, within what a person likes to read.
pub fn width() -> usize {
    let said = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok());
    said.or_else(terminal_width).unwrap_or(100).clamp(40, 140)
}

#[cfg(unix)]
fn terminal_width() -> Option<usize> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: the request fills a winsize, which `size` is.
    let asked = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (asked == 0 && size.ws_col > 0).then_some(size.ws_col.into())
}

#[cfg(not(unix))]
fn terminal_width() -> Option<usize> {
    None
}

fn handler() -> MietteHandlerOpts {
    // Commands in a help text stay whole: `--from` is not split at its hyphens.
    let whole = WordSplitter::NoHyphenation;
    let options = MietteHandlerOpts::new()
        .break_words(false)
        .word_splitter(whole);
    if interactive() && !no_color() {
        return options;
    }
    options.color(false).terminal_links(false)
}

fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}
