//! A diff for programs: the keys of [`DiffReport`](super::DiffReport). `codegen/docs/diff.schema.json` describes them, and they
//! are stable.

use super::DiffReport;

/// Returns the document, which ends with one newline.
pub fn json(report: &DiffReport) -> String {
    serde_json::to_string_pretty(report).expect("plain data always serializes") + "\n"
}
