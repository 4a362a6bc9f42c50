//! Output of the commands, results to stdout and informational lines to stderr, and the options of every command,
//! `--color` and `--quiet`.
//!
//! Nothing here panics if a stream is closed or a device is full. A result that cannot be written is an error. An
//! informational line that cannot be written is dropped.

use crate::history::Paint;
use clap::ValueEnum;
use miette::Diagnostic;
use std::fmt::{self, Write as _};
use std::io::{self, ErrorKind, IsTerminal, Write as _};
use std::sync::OnceLock;
use thiserror::Error;

/// Options of every command.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct ConsoleArgs {
    /// When to color the output
    #[arg(long, global = true, display_order = 100, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
    /// Print only results, warnings and errors
    #[arg(long, short, global = true, display_order = 100)]
    pub quiet: bool,
}

/// Condition for colored output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Also in files and pipes
    Always,
    /// Never
    Never,
}

/// The results cannot be written to stdout.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot write to stdout: {reason}")]
#[diagnostic(
    code(sp_gen::console::stdout_unwritable),
    help("the output is incomplete: free space on the device, or write to another device")
)]
pub struct StdoutError {
    reason: io::Error,
}

static OPTIONS: OnceLock<ConsoleArgs> = OnceLock::new();

/// Sets the options. Later calls have no effect.
pub fn configure(args: ConsoleArgs) {
    let _ = OPTIONS.set(args);
}

/// Returns the value of `--color` in arguments that clap rejected, for the color of the error.
pub fn color_in(arguments: impl Iterator<Item = String>) -> ColorChoice {
    let mut arguments = arguments.skip(1);
    let mut found = None;
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix("--color=") {
            Some(value) => found = Some(value.to_owned()),
            None if argument == "--color" => found = arguments.next(),
            None => {}
        }
    }
    found
        .and_then(|value| ColorChoice::from_str(&value, false).ok())
        .unwrap_or_default()
}

/// Writes results to stdout.
///
/// # Errors
/// Returns an error if the results cannot be written. A pipe that its reader closed, such as `head`, is not an error.
pub fn print(text: &str) -> miette::Result<()> {
    let mut stdout = io::stdout();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(reason) if reason.kind() != ErrorKind::BrokenPipe => Err(StdoutError { reason }.into()),
        _ => Ok(()),
    }
}

/// Writes a line to stderr, also with `--quiet`. Failures are ignored: they cannot be reported elsewhere.
pub fn write_stderr(line: fmt::Arguments<'_>) {
    let mut text = String::new();
    let _ = writeln!(text, "{line}");
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes an informational line to stderr, unless `--quiet` is given.
pub fn write_note(line: fmt::Arguments<'_>) {
    if !is_quiet() {
        write_stderr(line);
    }
}

/// Prints an informational line to stderr, unless `--quiet` is given; takes what `format!` takes.
macro_rules! note {
    ($($part:tt)*) => { $crate::console::write_note(format_args!($($part)*)) };
}

/// Prints a warning to stderr, also with `--quiet`; takes what `format!` takes.
macro_rules! warning {
    ($($part:tt)*) => { $crate::console::write_stderr(format_args!($($part)*)) };
}

pub(crate) use {note, warning};

/// Returns true if `--quiet` is given.
pub fn is_quiet() -> bool {
    options().quiet
}

/// Returns true if progress bars are drawn, which needs a terminal that can redraw a line.
pub fn shows_progress() -> bool {
    !is_quiet() && io::stderr().is_terminal() && !is_dumb()
}

/// Returns the color mode of results.
pub fn paint() -> Paint {
    paint_for(io::stdout().is_terminal())
}

/// Returns the color mode of diagnostics.
pub fn diagnostic_paint() -> Paint {
    paint_for(io::stderr().is_terminal())
}

fn paint_for(is_terminal: bool) -> Paint {
    let is_colored = match options().color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && !has_no_color() && !is_dumb(),
    };
    match is_colored {
        true => Paint::Ansi,
        false => Paint::Plain,
    }
}

fn options() -> ConsoleArgs {
    OPTIONS.get().copied().unwrap_or_default()
}

fn has_no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|value| value == "dumb")
}

/// Returns the width of results in characters: that of the terminal, limited to 40 to 140.
pub fn width() -> usize {
    let stated = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok());
    stated.or_else(terminal_width).unwrap_or(100).clamp(40, 140)
}

#[cfg(unix)]
fn terminal_width() -> Option<usize> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: TIOCGWINSZ writes one `winsize` through its pointer, and `size` is a live, writable `winsize`.
    let status = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (status == 0 && size.ws_col > 0).then_some(size.ws_col.into())
}

#[cfg(not(unix))]
fn terminal_width() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_color_in_rejected_arguments() {
        let color = |text: &str| color_in(text.split(' ').map(str::to_owned));
        assert_eq!(color("sp-gen diff --color never"), ColorChoice::Never);
        assert_eq!(color("sp-gen --color=always x"), ColorChoice::Always);
        assert_eq!(color("sp-gen --color blue"), ColorChoice::Auto);
        assert_eq!(color("sp-gen diff"), ColorChoice::Auto);
    }
}
