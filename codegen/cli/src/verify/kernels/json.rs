//! The JSON report, `codegen/docs/verify-kernels.schema.json`: one entry for each kernel, with its releases.

use super::{KernelReport, rules};
use serde::Serialize;

/// The version of the schema. Keys are added, and never change their meaning.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct KernelsJson<'a> {
    schema: u32,
    plugin: &'a str,
    verdict: &'static str,
    releases: &'a [String],
    kernels: Vec<Kernel<'a>>,
    findings: Vec<Finding<'a>>,
    unlisted: Vec<Unlisted<'a>>,
    lacking: Vec<Lacking<'a>>,
}

#[derive(Serialize)]
struct Kernel<'a> {
    op: &'a str,
    device: &'a str,
    constraints: Vec<Constraint<'a>>,
    host_memory: &'a [String],
    priority: i32,
    label: &'a str,
    asynchronous: bool,
    releases: Vec<&'a str>,
}

#[derive(Serialize)]
struct Constraint<'a> {
    attribute: &'a str,
    #[serde(rename = "type")]
    dtype: String,
}

#[derive(Serialize)]
struct Finding<'a> {
    rule: &'a str,
    op: &'a str,
    message: &'a str,
    releases: &'a [String],
}

#[derive(Serialize)]
struct Unlisted<'a> {
    reason: &'a str,
    is_failure: bool,
    releases: Vec<&'a str>,
}

#[derive(Serialize)]
struct Lacking<'a> {
    reason: &'a str,
    ops: Vec<&'a str>,
    releases: Vec<&'a str>,
}

/// Returns the report as JSON.
pub fn print(report: &KernelReport) -> String {
    let json = KernelsJson {
        schema: SCHEMA,
        plugin: &report.plugin,
        verdict: verdict(report),
        releases: &report.releases,
        kernels: kernels(report),
        findings: findings(report),
        unlisted: unlisted(report),
        lacking: lacking(report),
    };
    let text = serde_json::to_string_pretty(&json);
    format!("{}\n", text.expect("text and numbers only"))
}

fn verdict(report: &KernelReport) -> &'static str {
    match (report.nothing_checked(), report.has_findings()) {
        (Some(_), _) => "unchecked",
        (None, true) => "fail",
        (None, false) => "pass",
    }
}

fn kernels(report: &KernelReport) -> Vec<Kernel<'_>> {
    let kernels = report.kernels().into_iter();
    let kernels = kernels.map(|(it, releases)| Kernel {
        op: &it.op,
        device: &it.device,
        constraints: it.constraints.iter().map(constraint).collect(),
        host_memory: &it.host_memory,
        priority: it.priority,
        label: &it.label,
        asynchronous: it.is_async,
        releases,
    });
    kernels.collect()
}

fn constraint((attribute, dtype): &(String, sp_host::DType)) -> Constraint<'_> {
    Constraint {
        attribute,
        dtype: rules::type_name(dtype.0),
    }
}

fn findings(report: &KernelReport) -> Vec<Finding<'_>> {
    let findings = report.findings.iter();
    let findings = findings.map(|(it, releases)| Finding {
        rule: it.rule,
        op: &it.op,
        message: &it.message,
        releases,
    });
    findings.collect()
}

fn lacking(report: &KernelReport) -> Vec<Lacking<'_>> {
    let lacking = report.lacking().into_iter();
    let lacking = lacking.map(|((releases, reason), ops)| Lacking {
        reason,
        ops,
        releases,
    });
    lacking.collect()
}

fn unlisted(report: &KernelReport) -> Vec<Unlisted<'_>> {
    let unlisted = report.unlisted().into_iter();
    let unlisted = unlisted.map(|(reason, is_failure, releases)| Unlisted {
        reason,
        is_failure,
        releases,
    });
    unlisted.collect()
}
