//! The JSON report.

use super::{DoctorReport, Step};
use serde::Serialize;

/// The version of the schema. Keys are added, and never change their meaning.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct DoctorJson<'a> {
    schema: u32,
    python: &'a str,
    steps: &'a [Step],
}

/// Returns the report as JSON: one row for each step.
pub fn print(report: &DoctorReport) -> String {
    let json = DoctorJson {
        schema: SCHEMA,
        python: &report.python,
        steps: &report.steps,
    };
    let text = serde_json::to_string_pretty(&json);
    format!("{}\n", text.expect("text and numbers only"))
}
