//! A diff for programs: the keys of [`Report`](super::Report). `codegen/docs/diff.schema.json` describes them, and they
//! are stable.

use super::Report;

/// Returns the document, which ends with one newline.
pub fn json(report: &Report) -> String {
    serde_json::to_string_pretty(report).expect("plain data always serializes") + "\n"
}
