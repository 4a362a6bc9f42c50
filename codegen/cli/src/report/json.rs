//! A diff for programs: the keys of [`Report`](super::Report), which `codegen/docs/diff.schema.json`
//! describes. They are a contract.

use super::Report;

/// The document, ending in one newline.
pub fn json(report: &Report) -> String {
    serde_json::to_string_pretty(report).expect("plain data always serializes") + "\n"
}
