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
        let rows = report.rows.iter().filter(|it| it.class == class);
        let (calls, nanoseconds) =
            rows.fold((0, 0), |sum, it| (sum.0 + it.calls, sum.1 + it.nanoseconds));
        ClassJson {
            class,
            calls,
            nanoseconds,
        }
    };
    let json = CoverageJson {
        schema: SCHEMA,
        release: &report.release,
        device_types: report.device_types.iter().map(String::as_str).collect(),
        processes: report.processes,
        nanoseconds: report.nanoseconds(),
        failures: &report.failures,
        classes: Class::ALL.map(class).into_iter().collect(),
        regressions,
        rows: &report.rows,
    };
    let text = serde_json::to_string_pretty(&json);
    format!("{}\n", text.expect("text and numbers only"))
}
