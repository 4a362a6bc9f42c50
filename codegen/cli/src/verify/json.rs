//! A report for programs, `codegen/docs/verify.schema.json`: one row per check and release.

use super::{Asked, Report};
use serde::Serialize;
use sp_host::{CheckOutcome, Verdict};
use std::collections::BTreeMap;

/// The version of the form; keys are added, never given another meaning.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Page<'a> {
    schema: u32,
    plugin: &'a str,
    verdict: &'static str,
    releases: &'a [String],
    previews: &'a BTreeMap<String, String>,
    asks: &'a Asked,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    check: &'a str,
    release: &'a str,
    status: &'static str,
    detail: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    dropped_bytes: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The report's text.
pub fn print(report: &Report) -> String {
    let rows = report
        .rows
        .iter()
        .map(|(release, outcome)| row(release, outcome));
    let page = Page {
        schema: SCHEMA,
        plugin: &report.plugin,
        verdict: verdict(report),
        releases: &report.releases,
        previews: &report.previews,
        asks: &report.asked,
        rows: rows.collect(),
    };
    let text = serde_json::to_string_pretty(&page);
    format!("{}\n", text.expect("text and numbers only"))
}

fn row<'a>(release: &'a str, outcome: &'a CheckOutcome) -> Row<'a> {
    Row {
        check: &outcome.check,
        release,
        status: match outcome.status {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Skip => "skip",
        },
        detail: &outcome.detail,
        dropped_bytes: outcome.dropped_bytes,
    }
}

/// Returns the verdict on the whole: `unchecked` if all checks of all releases were skipped.
fn verdict(report: &Report) -> &'static str {
    match (report.found(), report.is_checked()) {
        (true, _) => "fail",
        (false, true) => "pass",
        (false, false) => "unchecked",
    }
}
