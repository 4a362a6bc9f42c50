//! The JSON report, `codegen/docs/verify.schema.json`: one row for each check and release.

use super::{Requirements, VerifyReport};
use serde::Serialize;
use sp_host::{CheckOutcome, CheckStatus};
use std::collections::BTreeMap;

/// The version of the schema. Keys are added, and never change their meaning.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct VerifyJson<'a> {
    schema: u32,
    plugin: &'a str,
    verdict: &'static str,
    releases: &'a [String],
    previews: &'a BTreeMap<String, String>,
    requirements: &'a Requirements,
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

/// Returns the report as JSON.
pub fn print(report: &VerifyReport) -> String {
    let rows = report.rows.iter();
    let rows = rows.map(|(release, outcome)| row(release, outcome));
    let json = VerifyJson {
        schema: SCHEMA,
        plugin: &report.plugin,
        verdict: verdict(report),
        releases: &report.releases,
        previews: &report.previews,
        requirements: &report.requirements,
        rows: rows.collect(),
    };
    let text = serde_json::to_string_pretty(&json);
    format!("{}\n", text.expect("text and numbers only"))
}

fn row<'a>(release: &'a str, outcome: &'a CheckOutcome) -> Row<'a> {
    Row {
        check: &outcome.check,
        release,
        status: match outcome.status {
            CheckStatus::Pass => "pass",
            CheckStatus::Fail => "fail",
            CheckStatus::Skip => "skip",
        },
        detail: &outcome.detail,
        dropped_bytes: outcome.dropped_bytes,
    }
}

/// Returns the verdict on all releases: `unchecked` if all checks of all releases were skipped.
pub(super) fn verdict(report: &VerifyReport) -> &'static str {
    match (report.has_failures(), report.is_checked()) {
        (true, _) => "fail",
        (false, true) => "pass",
        (false, false) => "unchecked",
    }
}
