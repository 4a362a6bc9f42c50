//! Lines of the layer on stderr.

use super::system;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

const STDERR: i32 = 2;

/// Writes `sp-gen layer: TEXT` to stderr.
pub fn line(text: &str) {
    system::write_all(STDERR, format!("sp-gen layer: {text}\n").as_bytes());
}

/// Writes a line about `subject`, the first time.
pub fn line_once(subject: &'static str, text: &str) {
    static SUBJECTS: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut subjects = SUBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    if subjects.get_or_insert_with(HashSet::new).insert(subject) {
        line(&format!("{subject} {text}"));
    }
}
