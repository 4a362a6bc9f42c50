//! Lines on stderr, each with the name of the plugin.

use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;

static NAME: OnceLock<&'static str> = OnceLock::new();

/// Sets the name under which this plugin's lines appear; the first call counts.
pub fn set_plugin_name(name: &'static str) {
    // A second entry point of the same plugin brings the same name.
    let _ = NAME.set(name);
}

/// Writes one line to stderr. A stderr that cannot be written is ignored: a plugin's message must not
/// end the host.
pub fn line(text: fmt::Arguments<'_>) {
    let line = match NAME.get() {
        Some(name) => format!("plugin {name}: {text}\n"),
        None => format!("plugin: {text}\n"),
    };
    // One write, so that lines of several threads do not mix.
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Writes one line to stderr, formatted as by `format!`, with the plugin's name in front.
#[macro_export]
macro_rules! report {
    ($($text:tt)*) => {
        $crate::report::line(::core::format_args!($($text)*))
    };
}
