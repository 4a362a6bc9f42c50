//! JSON on one line, for the files that have one entry on each line.

use serde::Serialize;

/// Returns `value` as JSON on one line. Its maps must have strings as keys.
pub fn to_line<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("strings and maps of strings always serialize")
}
