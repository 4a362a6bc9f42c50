//! The report of a replay as text.

use super::ReplayOptions;
use super::json::{OpTimes, not_compared, op_times};
use super::outcome::{CallOutcome, Verdict};
use super::process::Replayed;
use sp_host::escape_control;
use sp_layer::runtime::capture::format::size_text;
use std::fmt::Write;
use std::path::Path;

/// Ops whose times are printed.
const OPS: usize = 10;
/// Findings that are printed.
const FINDINGS: usize = 20;

/// Returns the report.
pub fn print(options: &ReplayOptions, replayed: &Replayed) -> String {
    let shown = |path: &Path| escape_control(&path.display().to_string());
    let mut out = String::new();
    for call in replayed.failures().take(FINDINGS) {
        push_finding(call, &mut out);
    }
    let failures = replayed.failures().count();
    if failures > FINDINGS {
        let _ = writeln!(out, "and {} more calls", failures - FINDINGS);
    }
    let count = |verdict| replayed.count(verdict);
    let _ = writeln!(
        out,
        "{} with {}: {} calls, {} equal, {} different, {} failed, {} not compared",
        shown(&options.capture),
        shown(&options.plugin),
        replayed.outcomes.len(),
        count(Verdict::Equal),
        count(Verdict::Different),
        count(Verdict::Failed),
        count(Verdict::NotCompared),
    );
    for (reason, calls) in not_compared(replayed) {
        let _ = writeln!(out, "  not compared: {calls}, {reason}");
    }
    if let Some(limit) = replayed.limit.map(size_text) {
        let _ = writeln!(
            out,
            "  the capture was cut at {limit}: it does not have the program's later calls"
        );
    }
    if replayed.is_cut {
        let _ = writeln!(
            out,
            "  the plugin ended the process too often: the rest was not repeated"
        );
    }
    push_times(&op_times(replayed), &mut out);
    out
}

fn push_finding(call: &CallOutcome, out: &mut String) {
    let node = match &*call.node {
        "" => String::new(),
        node => format!(" \"{node}\""),
    };
    let (number, op, inputs, detail) = (call.call, &call.op, &call.inputs, &call.detail);
    let _ = writeln!(out, "call {number}: {op}{node} of {inputs}: {detail}");
}

fn push_times(ops: &[OpTimes], out: &mut String) {
    let microseconds = |nanoseconds: u64| nanoseconds as f64 / 1e3;
    let _ = writeln!(
        out,
        "{:<28} {:>6} {:>14} {:>14}",
        "time of kernels", "calls", "captured, us", "replayed, us"
    );
    for it in ops.iter().take(OPS) {
        let _ = writeln!(
            out,
            "  {:<26} {:>6} {:>14.1} {:>14.1}",
            it.op,
            it.calls,
            microseconds(it.captured_nanoseconds),
            microseconds(it.replayed_nanoseconds)
        );
    }
}
