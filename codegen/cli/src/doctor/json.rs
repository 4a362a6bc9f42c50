//! A diagnosis for programs.

use super::{Report, Step};
use serde::Serialize;

/// The version of the form; keys are added, never given another meaning.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Page<'a> {
    schema: u32,
    python: &'a str,
    steps: &'a [Step],
}

/// Returns the report as JSON: one row for each step.
pub fn print(report: &Report) -> String {
    let page = Page {
        schema: SCHEMA,
        python: &report.python,
        steps: &report.steps,
    };
    let text = serde_json::to_string_pretty(&page);
    format!("{}\n", text.expect("text and numbers only"))
}
