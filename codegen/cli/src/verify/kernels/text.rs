//! The table: a row for each op and choice of options, with all of its types.

use super::{KernelReport, rules};
use crate::verify::text::ranges;
use sp_host::RegisteredKernel;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The columns of the table.
type Row = [String; 6];

const HEAD: [&str; 6] = [
    "op",
    "types",
    "host memory",
    "options",
    "device",
    "releases",
];

/// Returns the report as text.
pub fn print(report: &KernelReport) -> String {
    let kernels = report.kernels();
    let mut out = match kernels.is_empty() {
        true => format!("{} registers no kernels\n", report.plugin),
        false => table(&rows(report)),
    };
    for (reason, is_failure, releases) in report.unlisted() {
        let title = ["no kernels", "failed"][usize::from(is_failure)];
        let releases = ranges(&releases, &report.releases);
        let _ = writeln!(out, "{title} ({releases}): {reason}");
    }
    for ((releases, reason), ops) in report.lacking() {
        let releases = ranges(&releases, &report.releases);
        let _ = writeln!(
            out,
            "no kernel ({releases}): {}, since {reason}",
            ops.join(", ")
        );
    }
    for (finding, releases) in &report.findings {
        let releases = ranges(releases, &report.releases);
        let _ = writeln!(out, "{} ({releases}): {}", finding.rule, finding.message);
    }
    let ops: BTreeSet<&str> = kernels.iter().map(|(it, _)| it.op.as_str()).collect();
    let (kernels, ops) = (counted(kernels.len(), "kernel"), counted(ops.len(), "op"));
    let findings = counted(report.findings.len(), "finding");
    let _ = writeln!(out, "{kernels} of {ops}, {findings}");
    out
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Returns the rows, sorted by op. Kernels that differ in types only are one row.
fn rows(report: &KernelReport) -> Vec<Row> {
    let mut groups: BTreeMap<Row, Vec<&RegisteredKernel>> = BTreeMap::new();
    for (kernel, releases) in report.kernels() {
        let releases = ranges(&releases, &report.releases);
        let (op, device) = (kernel.op.clone(), kernel.device.clone());
        let (hosts, options) = (kernel.host_memory.join(", "), options(kernel));
        let key = [op, String::new(), hosts, options, device, releases];
        groups.entry(key).or_default().push(kernel);
    }
    let rows = groups.into_iter().flat_map(|(key, kernels)| {
        let [op, _, hosts, options, device, releases] = key;
        let row = move |types| {
            let key = [&op, &types, &hosts, &options, &device, &releases];
            key.map(String::clone)
        };
        types(&kernels).into_iter().map(row)
    });
    rows.collect()
}

fn options(kernel: &RegisteredKernel) -> String {
    let priority = (kernel.priority != 0).then(|| format!("priority {}", kernel.priority));
    let label = (!kernel.label.is_empty()).then(|| format!("label {}", kernel.label));
    let is_async = kernel.is_async.then(|| "asynchronous".to_owned());
    let options: Vec<String> = [priority, label, is_async].into_iter().flatten().collect();
    options.join(", ")
}

/// Returns the types of some kernels in one text if each combination is registered, else a text for each kernel.
fn types(kernels: &[&RegisteredKernel]) -> Vec<String> {
    let mut values: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, dtype) in kernels.iter().flat_map(|it| &it.constraints) {
        let ty = rules::type_name(dtype.0);
        match values.iter_mut().find(|(known, _)| known == name) {
            Some((_, types)) if types.contains(&ty) => {}
            Some((_, types)) => types.push(ty),
            None => values.push((name, vec![ty])),
        }
    }
    let combinations: usize = values.iter().map(|(_, types)| types.len()).product();
    let is_complete = kernels
        .iter()
        .all(|it| it.constraints.len() == values.len());
    let format_one = |(name, types): &(&str, Vec<String>)| format!("{name}={}", types.join(","));
    match is_complete && combinations == kernels.len() {
        true => vec![values.iter().map(format_one).collect::<Vec<_>>().join(" ")],
        false => {
            let label = |it: &&RegisteredKernel| rules::label(it);
            let labels = kernels.iter().map(label);
            labels
                .map(|it| {
                    it.split_once(' ')
                        .map_or_else(String::new, |it| it.1.to_owned())
                })
                .collect()
        }
    }
}

/// Returns aligned columns. A column without text is left out.
fn table(rows: &[Row]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells
            .max()
            .filter(|it| *it > 0)
            .map(|it| it.max(HEAD[column].len()))
    };
    let widths: Vec<Option<usize>> = (0..HEAD.len()).map(width).collect();
    let format_row = |row: [&str; 6]| {
        let cells = row.iter().zip(&widths);
        let cells = cells.filter_map(|(cell, width)| Some(format!("{cell:<0$}", (*width)?)));
        let line = cells.collect::<Vec<_>>().join("  ");
        format!("{}\n", line.trim_end())
    };
    let head = format_row(HEAD);
    let rows = rows
        .iter()
        .map(|row| format_row(row.each_ref().map(String::as_str)));
    [head].into_iter().chain(rows).collect()
}
