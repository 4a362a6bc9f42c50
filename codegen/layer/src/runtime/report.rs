//! Lines of the layer on stderr.

use super::shared::Shared;
use super::system;
use std::collections::HashSet;

const STDERR: i32 = 2;

/// Writes `sp-gen layer: TEXT` to stderr.
pub fn line(text: &str) {
    system::write_all(STDERR, format!("sp-gen layer: {text}\n").as_bytes());
}

/// Writes a line about `subject`, the first time.
pub fn line_once(subject: &'static str, text: &str) {
    static SUBJECTS: Shared<HashSet<&'static str>> = Shared::new();
    if SUBJECTS.with(|subjects| subjects.insert(subject)) {
        line(&format!("{subject} {text}"));
    }
}
