//! Log lines on stderr, each with the name of the plugin. [`report!`](crate::report!) writes one.
//!
//! `SP_LOG=off|error|warn|info|debug` selects the level, `info` by default. Logging never fails: neither a
//! closed stderr nor a full disk may end the host or a kernel, and `eprintln!` panics on both.

use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use crate::payload::drop_payload;

/// Severity of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A failure that no status could report.
    Error,
    /// The plugin declines a host, or runs with reduced function.
    Warn,
    /// A condition that a user may want to change.
    Info,
    /// Details for an author.
    Debug,
}

impl Level {
    const ALL: [Self; 4] = [Self::Error, Self::Warn, Self::Info, Self::Debug];

    /// Returns the level's name in `SP_LOG`.
    const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

/// Highest level that is written, or `None` if nothing is written.
type Threshold = Option<Level>;

const DEFAULT_THRESHOLD: Threshold = Some(Level::Info);

static PLUGIN_NAME: OnceLock<&'static str> = OnceLock::new();

/// Sets the plugin's name for log lines. Only the first call has an effect.
pub fn set_plugin_name(name: &'static str) {
    // Every entry point of a plugin passes the same name, so the result does not matter.
    let _ = PLUGIN_NAME.set(name);
}

/// Writes one line to stderr if `SP_LOG` includes `level`. A stderr that cannot be written is ignored.
pub fn log(level: Level, text: fmt::Arguments<'_>) {
    let logged = catch_unwind(AssertUnwindSafe(|| {
        if threshold() >= Some(level) {
            write_line(&format_line(text));
        }
    }));
    // A panic in a value's `Display` must not leave this function.
    if let Err(payload) = logged {
        drop_payload(payload);
    }
}

/// Writes one line to stderr, formatted as by `format!`, with the plugin's name in front:
/// `report!(Warn, "{ops} are left to TensorFlow")`. The first argument is a [`Level`](report::Level).
#[macro_export]
macro_rules! report {
    ($level:ident, $($text:tt)*) => {
        $crate::report::log($crate::report::Level::$level, ::core::format_args!($($text)*))
    };
}

/// Returns the threshold that `SP_LOG` selects. Reports an invalid value once.
fn threshold() -> Threshold {
    static THRESHOLD: OnceLock<Threshold> = OnceLock::new();
    *THRESHOLD.get_or_init(|| {
        let Some(value) = std::env::var_os("SP_LOG") else {
            return DEFAULT_THRESHOLD;
        };
        parse(&value).unwrap_or_else(|| {
            write_line(&format_line(format_args!(
                "SP_LOG={} is invalid: expected off, error, warn, info or debug; info is used",
                value.display()
            )));
            DEFAULT_THRESHOLD
        })
    })
}

/// Parses a value of `SP_LOG`; `None` if it is invalid.
fn parse(value: &OsStr) -> Option<Threshold> {
    if value == "off" {
        return Some(None);
    }
    let mut levels = Level::ALL.into_iter();
    levels.find(|level| value == level.name()).map(Some)
}

fn format_line(text: fmt::Arguments<'_>) -> String {
    let mut line = match PLUGIN_NAME.get() {
        Some(name) => format!("plugin {name}: "),
        None => "plugin: ".to_owned(),
    };
    // If a `Display` returns an error, the line is truncated; `format!` would panic.
    let _ = line.write_fmt(text);
    line.push('\n');
    line
}

/// Writes `line` in one call, so that lines of several threads and processes do not mix.
///
/// It does not use `std::io::stderr`: if a process forks while another thread writes, the child's copy of
/// that lock stays held.
fn write_line(line: &str) {
    loop {
        // SAFETY: `line` is readable for its length. `write` returns an error for a closed descriptor.
        let written = unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
        let interrupted = || io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
        if written >= 0 || !interrupted() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_level_names_and_off_only() {
        let parsed = ["off", "error", "warn", "info", "debug", "", "INFO", "3"];
        let parsed = parsed.map(|value| parse(value.as_ref()));
        let levels = Level::ALL.map(|level| Some(Some(level)));
        assert_eq!(parsed[0], Some(None));
        assert_eq!(parsed[1..5], levels);
        assert_eq!(parsed[5..], [None; 3]);
    }

    #[test]
    fn threshold_includes_more_severe_levels() {
        assert!(Some(Level::Warn) >= Some(Level::Error) && Some(Level::Warn) < Some(Level::Info));
        assert!(None < Some(Level::Error));
    }

    #[test]
    fn survives_display_that_fails_or_panics() {
        struct Fails;
        impl fmt::Display for Fails {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                Err(fmt::Error)
            }
        }
        struct Panics;
        impl fmt::Display for Panics {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                panic!("expected")
            }
        }
        crate::report!(Error, "a value: {Fails}");
        crate::report!(Error, "a value: {Panics}");
    }
}
