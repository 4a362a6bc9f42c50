//! The rows of the report: ops by types and by the kernel that computed them.

use super::call_report::{self, KernelCalls};
use super::device_rows::{counted_rows, unreported_row};
use super::process::{CPU, Process, RegisteredKernel, Types, are_allowed};
use super::row::{Class, Row};
use super::sites::{self, CalledKernels, Site};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Parts of the names of ops of `tf.data`. Their values are datasets, iterators and optionals, which are objects of the host.
const PIPELINES: [&str; 3] = ["Dataset", "Iterator", "Optional"];

/// Returns the rows of a process.
pub fn of_process(process: &Process) -> Vec<Row> {
    let reports = process.plugins.iter().filter_map(|(_, text)| text.as_ref());
    let kernels: Vec<KernelCalls> = reports.flat_map(|it| call_report::parse(it)).collect();
    let mut called = CalledKernels::new();
    for kernel in kernels.iter().filter(|it| it.calls > 0) {
        called.entry(&kernel.op).or_default().push(kernel);
    }
    let mut sites = sites::executed(process);
    sites::add_eager_calls(&mut sites, process, &called);
    let (host, device): (Vec<_>, Vec<_>) = sites.into_iter().partition(|it| it.device_type == CPU);
    let mut rows: Vec<Row> = host.iter().map(|it| host_row(process, it)).collect();
    let mut by_op: BTreeMap<&str, Vec<Site<'_>>> = BTreeMap::new();
    for site in device {
        by_op.entry(site.op).or_default().push(site);
    }
    let profiled = process
        .device
        .iter()
        .map(|(op, _, time)| (op.as_str(), *time));
    let profiled: HashMap<&str, u64> = profiled.collect();
    for (op, sites) in by_op {
        match called.get(op) {
            Some(kernels) => rows.extend(counted_rows(&sites, kernels, profiled.get(op).copied())),
            None => rows.extend(sites.iter().map(|it| unreported_row(process, it))),
        }
    }
    rows.retain(|it| it.calls > 0);
    rows
}

/// Returns the row of an op on the CPU.
fn host_row(process: &Process, site: &Site<'_>) -> Row {
    if PIPELINES.iter().any(|it| site.op.contains(it)) {
        return site.row(Class::Pipeline, String::new());
    }
    let kernels: Vec<&RegisteredKernel> = process
        .device_types()
        .chain(["DEFAULT"])
        .flat_map(|it| process.kernels(site.op, it))
        .collect();
    match kernels.iter().any(|it| it.allows(site.types)) {
        true => site.row(
            Class::Cpu,
            "the program or TensorFlow's placer chose the CPU".into(),
        ),
        false if kernels.is_empty() => site.row(Class::Absent, "no kernel".into()),
        false => site.row(Class::Absent, other_types(&kernels, site.types)),
    }
}

/// Returns the reason why no kernel serves a node: its types, and those that kernels have.
fn other_types(kernels: &[&RegisteredKernel], types: &Types) -> String {
    for (name, dtype) in types {
        let allowed = kernels.iter().filter_map(|it| it.1.get(name)).flatten();
        let mut allowed: Vec<&str> = allowed.map(String::as_str).collect();
        allowed.sort_unstable();
        allowed.dedup();
        if !allowed.is_empty() && !are_allowed(dtype, |it| allowed.contains(&it)) {
            return format!(
                "no kernel for {name}={dtype}, only for {}",
                allowed.join(", ")
            );
        }
    }
    "no kernel for these types together".into()
}

/// Adds rows of one op, types and kernel, and sorts: candidates first, then the longest.
pub fn merged(rows: impl Iterator<Item = Vec<Row>>) -> Vec<Row> {
    let mut merged: BTreeMap<_, Row> = BTreeMap::new();
    for row in rows.flatten() {
        let key = (
            row.op.clone(),
            row.types.clone(),
            row.class,
            row.owner.clone(),
        );
        let Some(sum) = merged.get_mut(&key) else {
            merged.insert(key, row);
            continue;
        };
        sum.calls += row.calls;
        sum.nanoseconds += row.nanoseconds;
        sum.staged_calls += row.staged_calls;
        sum.staged_bytes += row.staged_bytes;
    }
    let mut rows: Vec<Row> = merged.into_values().collect();
    rows.sort_by_key(|it| (!it.class.is_candidate(), Reverse(it.nanoseconds)));
    rows
}
