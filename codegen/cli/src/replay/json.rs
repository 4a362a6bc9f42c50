//! The report of a replay as JSON.

use super::ReplayOptions;
use super::outcome::{CallOutcome, Verdict};
use super::process::Replayed;
use serde::Serialize;
use sp_host::escape_control;
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the schema. Keys are added, and never change their meaning.
const SCHEMA: u32 = 1;

/// The calls of an op that were repeated, and their time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct OpTimes {
    pub op: String,
    pub calls: u64,
    pub captured_nanoseconds: u64,
    pub replayed_nanoseconds: u64,
}

#[derive(Serialize)]
struct ReplayJson<'a> {
    schema: u32,
    capture: String,
    plugin: String,
    calls: usize,
    equal: usize,
    different: usize,
    failed: usize,
    not_compared: Vec<ReasonJson<'a>>,
    is_cut: bool,
    capture_limit: Option<u64>,
    findings: Vec<&'a CallOutcome>,
    ops: Vec<OpTimes>,
}

#[derive(Serialize)]
struct ReasonJson<'a> {
    reason: &'a str,
    calls: usize,
}

/// Returns the report.
pub fn print(options: &ReplayOptions, replayed: &Replayed) -> String {
    let shown = |path: &Path| escape_control(&path.display().to_string());
    let reasons = not_compared(replayed).into_iter();
    let json = ReplayJson {
        schema: SCHEMA,
        capture: shown(&options.capture),
        plugin: shown(&options.plugin),
        calls: replayed.outcomes.len(),
        equal: replayed.count(Verdict::Equal),
        different: replayed.count(Verdict::Different),
        failed: replayed.count(Verdict::Failed),
        not_compared: reasons
            .map(|(reason, calls)| ReasonJson { reason, calls })
            .collect(),
        is_cut: replayed.is_cut,
        capture_limit: replayed.limit,
        findings: replayed.failures().collect(),
        ops: op_times(replayed),
    };
    let text = serde_json::to_string_pretty(&json);
    format!("{}\n", text.expect("text and numbers only"))
}

/// Returns the reasons why calls were not compared, each with its number of calls.
pub(super) fn not_compared(replayed: &Replayed) -> BTreeMap<&str, usize> {
    let mut reasons = BTreeMap::new();
    let outcomes = replayed.outcomes.iter();
    for call in outcomes.filter(|it| it.verdict == Verdict::NotCompared) {
        *reasons.entry(call.detail.as_str()).or_insert(0) += 1;
    }
    reasons
}

/// Returns the times of the ops, the longest first.
pub(super) fn op_times(replayed: &Replayed) -> Vec<OpTimes> {
    let mut ops: BTreeMap<&str, OpTimes> = BTreeMap::new();
    let outcomes = replayed.outcomes.iter();
    for call in outcomes.filter(|it| it.replayed_nanoseconds > 0) {
        let times = ops.entry(&call.op).or_insert_with(|| OpTimes {
            op: call.op.clone(),
            ..OpTimes::default()
        });
        times.calls += 1;
        times.captured_nanoseconds += call.captured_nanoseconds;
        times.replayed_nanoseconds += call.replayed_nanoseconds;
    }
    let mut ops: Vec<OpTimes> = ops.into_values().collect();
    ops.sort_by_key(|it| std::cmp::Reverse(it.replayed_nanoseconds));
    ops
}
