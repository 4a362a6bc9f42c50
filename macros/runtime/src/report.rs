//! The log: lines on stderr, each with the name of the plugin. [`report!`](crate::report!) writes one.
//!
//! `SP_LOG=off|error|warn|info|debug` chooses which, `info` by default. Nothing here fails: neither a closed
//! stderr nor a full disk may end the host or a kernel, and `eprintln!` panics on both.

use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use crate::guard;

/// Severity of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something failed, and no status could carry it.
    Error,
    /// The plugin declines, or does less than it could.
    Warn,
    /// Something that a user may want to change.
    Info,
    /// Details for an author.
    Debug,
}

impl Level {
    const ALL: [Self; 4] = [Self::Error, Self::Warn, Self::Info, Self::Debug];

    /// Returns the name that `SP_LOG` takes.
    const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

/// The levels that are written: this one and those before it; `None` for none.
type Threshold = Option<Level>;

const DEFAULT: Threshold = Some(Level::Info);

static NAME: OnceLock<&'static str> = OnceLock::new();

/// Sets the name under which this plugin's lines appear; the first call counts.
pub fn set_plugin_name(name: &'static str) {
    // A second entry point of the same plugin brings the same name.
    let _ = NAME.set(name);
}

/// Writes one line to stderr if `SP_LOG` includes `level`. A stderr that cannot be written is ignored.
pub fn log(level: Level, text: fmt::Arguments<'_>) {
    let logged = catch_unwind(AssertUnwindSafe(|| {
        if threshold() >= Some(level) {
            write(&line(text));
        }
    }));
    // A value whose `Display` panics must not end more than its line.
    if let Err(payload) = logged {
        guard::discard(payload);
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

/// Returns what `SP_LOG` chooses; reports a value that is none once.
fn threshold() -> Threshold {
    static CHOSEN: OnceLock<Threshold> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let Some(value) = std::env::var_os("SP_LOG") else {
            return DEFAULT;
        };
        parse(&value).unwrap_or_else(|| {
            write(&line(format_args!(
                "SP_LOG={} is invalid: expected off, error, warn, info or debug; info is used",
                value.display()
            )));
            DEFAULT
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

fn line(text: fmt::Arguments<'_>) -> String {
    let mut line = match NAME.get() {
        Some(name) => format!("plugin {name}: "),
        None => "plugin: ".to_owned(),
    };
    // A `Display` that returns an error cuts its line short; `format!` would panic.
    let _ = line.write_fmt(text);
    line.push('\n');
    line
}

/// Writes `line` in one call, so that lines of several threads and processes do not mix.
///
/// Not through `std::io::stderr`: its lock may be held in a process that was forked while another thread
/// wrote.
fn write(line: &str) {
    loop {
        // SAFETY: the text is readable for its length; a descriptor that is closed is an error.
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
    fn parses_levels_and_off_and_nothing_else() {
        let parsed = ["off", "error", "warn", "info", "debug", "", "INFO", "3"];
        let parsed = parsed.map(|value| parse(value.as_ref()));
        let levels = Level::ALL.map(|level| Some(Some(level)));
        assert_eq!(parsed[0], Some(None));
        assert_eq!(parsed[1..5], levels);
        assert_eq!(parsed[5..], [None; 3]);
    }

    #[test]
    fn threshold_includes_the_levels_before_it() {
        assert!(Some(Level::Warn) >= Some(Level::Error) && Some(Level::Warn) < Some(Level::Info));
        assert!(None < Some(Level::Error));
    }

    #[test]
    fn survives_a_display_that_fails_or_panics() {
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
