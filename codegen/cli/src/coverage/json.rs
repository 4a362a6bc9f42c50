//! The report as JSON.

use super::{Class, CoverageReport, Regression, Row};
use serde::Serialize;

/// The version of the schema. Keys are added, and never change their meaning.
pub(super) const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct CoverageJson<'a> {
    schema: u32,
    release: &'a str,
    device_types: Vec<&'a str>,
    processes: usize,
    nanoseconds: u64,
    failures: &'a [String],
    classes: Vec<ClassJson>,
    unknown_classes: Vec<Class>,
    regressions: &'a [Regression],
    rows: &'a [Row],
}

#[derive(Serialize)]
struct ClassJson {
    class: Class,
    calls: u64,
    nanoseconds: u64,
}

/// Returns the report as JSON, with the ops that have a worse kernel than in a baseline.
pub fn print(report: &CoverageReport, regressions: &[Regression]) -> String {
    let class = |class| {
        let (calls, nanoseconds) = report.sums(class);
        ClassJson {
            class,
            calls,
            nanoseconds,
        }
    };
    let (known, unknown) = Class::ALL.into_iter().partition(|it| report.has(*it));
    let known: Vec<Class> = known;
    let json = CoverageJson {
        schema: SCHEMA,
        release: &report.release,
        device_types: report.device_types.iter().map(String::as_str).collect(),
        processes: report.processes,
        nanoseconds: report.nanoseconds(),
        failures: &report.failures,
        classes: known.into_iter().map(class).collect(),
        unknown_classes: unknown,
        regressions,
        rows: &report.rows,
    };
    let text = serde_json::to_string_pretty(&json);
    format!("{}\n", text.expect("text and numbers only"))
}
