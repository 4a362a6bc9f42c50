//! Log lines on stderr, each with the name of the plugin. [`report!`](crate::report!) writes one.
//!
//! `SP_LOG=off|error|warn|info|debug` selects the level, `info` by default. What is normal for a release of TensorFlow is
//! never a warning: a program that runs as it should prints one line at most.
//!
//! Logging never fails: neither a closed stderr nor a full disk may end the host or a kernel, and `eprintln!` panics on
//! both.
//!
//! `report::log` writes only the first line of level info, cut to 160 characters, since no caller has a count of the
//! others; under `SP_LOG=debug` it writes all. A text is one `write`, without a lock.

use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::payload::drop_payload;

/// Severity of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The device cannot be used, or a result may be wrong.
    Error,
    /// The user should act.
    Warn,
    /// A fact for the user, in 160 characters. Only the first line of a process has this level, later ones have level
    /// debug.
    Info,
    /// All else, such as lists.
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

/// Maximum length of a line of level info, in characters. The full line has level debug.
const INFO_CHARACTERS: usize = 160;

static PLUGIN_NAME: OnceLock<&'static str> = OnceLock::new();

/// Sets the plugin's name for log lines. Only the first call has an effect.
pub fn set_plugin_name(name: &'static str) {
    // Every entry point of a plugin passes the same name, so the result does not matter.
    let _ = PLUGIN_NAME.set(name);
}

/// Writes `text` to stderr if `SP_LOG` includes `level`. A stderr that cannot be written is ignored.
pub fn log(level: Level, text: fmt::Arguments<'_>) {
    static HAS_INFO: AtomicBool = AtomicBool::new(false);
    let logged = catch_unwind(AssertUnwindSafe(|| {
        let threshold = threshold();
        if threshold < Some(level) {
            return;
        }
        if level != Level::Info || threshold != Some(Level::Info) {
            write_text(&format_lines(text));
        } else if !HAS_INFO.swap(true, Ordering::Relaxed) {
            write_text(&cut(format_lines(text)));
        }
    }));
    // A panic in a value's `Display` must not leave this function.
    if let Err(payload) = logged {
        drop_payload(payload);
    }
}

/// Writes one line to stderr, formatted as by `format!`, with the plugin's name in front:
/// `report!(Warn, "{name}={value} is invalid")`. The first argument is a variant of `report::Level`.
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
            write_text(&format_lines(format_args!(
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

/// Returns the lines of `text`, each with the plugin's name.
fn format_lines(text: fmt::Arguments<'_>) -> String {
    let prefix = match PLUGIN_NAME.get() {
        Some(name) => format!("plugin {name}: "),
        None => "plugin: ".to_owned(),
    };
    let mut body = String::new();
    // If a `Display` returns an error, the text is truncated; `format!` would panic.
    let _ = body.write_fmt(text);
    let lines = body.trim_end_matches('\n').split('\n');
    lines.map(|line| format!("{prefix}{line}\n")).collect()
}

/// Returns the first line of `text`, cut to the length of a line of level info.
fn cut(text: String) -> String {
    const END: &str = "...";
    let line = text.split('\n').next().unwrap_or_default();
    if line.chars().count() <= INFO_CHARACTERS {
        return format!("{line}\n");
    }
    let start = line.chars().take(INFO_CHARACTERS - END.len());
    start.chain(END.chars()).chain(['\n']).collect()
}

/// Writes `text` in one call, so that lines of several threads and processes do not mix.
///
/// It does not use `std::io::stderr`: if a process forks while another thread writes, the child's copy of
/// that lock stays held.
fn write_text(text: &str) {
    loop {
        // SAFETY: `text` is readable for its length. `write` returns an error for a closed descriptor.
        let written = unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
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
    fn each_line_of_a_text_names_the_plugin() {
        let text = format_lines(format_args!("the build failed:\n  line 3\n"));
        assert_eq!(text, "plugin: the build failed:\nplugin:   line 3\n");
        assert_eq!(format_lines(format_args!("")), "plugin: \n");
    }

    #[test]
    fn line_of_level_info_is_cut_to_160_characters() {
        let lines = |length: usize| format!("{}\nsecond\n", "ä".repeat(length));
        assert_eq!(cut(lines(160)), format!("{}\n", "ä".repeat(160)));
        assert_eq!(cut(lines(161)), format!("{}...\n", "ä".repeat(157)));
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
