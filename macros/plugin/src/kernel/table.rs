//! From tables of kernels to TensorFlow's registry: the body of `TF_InitKernel`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;

use sp_runtime::{Host, guard};

use super::Entry;
use crate::Device;
use crate::platform::PluginInfo;

/// Difference in priority between the kernels of a table and those of the next table.
const TABLE_PRIORITY: i32 = 1000;

/// Registers the kernels of all tables, those of earlier tables with a higher priority.
///
/// A kernel that this host cannot run is left out before it can take the place of another one. Of the
/// others, a kernel of a later table is left out if one of an earlier table serves all of its nodes. What
/// TensorFlow rejects is reported and left out.
pub fn register<D: Device>(info: &PluginInfo, tables: impl FnOnce() -> Vec<Vec<Entry<D>>>) {
    guard::run_with_default("TF_InitKernel", (), || {
        let host = Host::get_or_decide(&info.requirements(), &sp_abi::KNOWN_RELEASES, Vec::new);
        // The reason why a host is declined was reported with the device, which it does not get.
        if host.check_accepted().is_err() {
            return;
        }
        let entries = select(runnable(tables(), host));
        report_ambiguous(&entries);
        let count = entries.len();
        sp_runtime::report!(Debug, "registers {count} kernels with {}", host.name());
        for entry in entries {
            if let Err(error) = entry.register(info.device_type) {
                sp_runtime::report!(Error, "{} is not registered: {error}", entry.label());
            }
        }
    });
}

/// Returns the kernels that this host can run, and reports the ops that are left without one.
fn runnable<D: Device>(tables: Vec<Vec<Entry<D>>>, host: &Host) -> Vec<Vec<Entry<D>>> {
    let mut lacking: Vec<(String, &'static CStr)> = Vec::new();
    let mut can_run = |entry: &Entry<D>| {
        if !entry.is_for_host(host) {
            return false;
        }
        let missing = entry.unavailable_function();
        lacking.extend(missing.iter().map(|it| (it.to_string(), entry.op())));
        missing.is_none()
    };
    let mut tables = tables;
    tables.iter_mut().for_each(|it| it.retain(&mut can_run));
    let served: BTreeSet<&CStr> = tables.iter().flatten().map(Entry::op).collect();
    lacking.retain(|(_, op)| !served.contains(op));
    report_lacking(&lacking);
    tables
}

/// Reports the ops without a kernel, a line for each reason.
fn report_lacking(lacking: &[(String, &'static CStr)]) {
    let mut ops: BTreeMap<&str, BTreeSet<Cow<'_, str>>> = BTreeMap::new();
    for (missing, op) in lacking {
        let of_reason = ops.entry(missing).or_default();
        of_reason.insert(op.to_string_lossy());
    }
    for (missing, ops) in ops {
        let ops: Vec<_> = ops.into_iter().collect();
        let ops = ops.join(", ");
        sp_runtime::report!(
            Warn,
            "{ops}: left to TensorFlow's own kernels, since {missing}"
        );
    }
}

/// Returns the kernels to register, each with the priority of its table added to its own.
fn select<D: Device>(tables: Vec<Vec<Entry<D>>>) -> Vec<Entry<D>> {
    let mut selected: Vec<Entry<D>> = Vec::new();
    let ranks = (0_i32..).take(tables.len()).collect::<Vec<_>>();
    for (mut table, rank) in tables.into_iter().zip(ranks.into_iter().rev()) {
        table.retain(|entry| !selected.iter().any(|earlier| earlier.covers(entry)));
        let raise = rank.saturating_mul(TABLE_PRIORITY);
        table
            .iter_mut()
            .for_each(|entry| entry.raise_priority(raise));
        selected.extend(table);
    }
    selected
}

/// Reports the pairs of kernels that TensorFlow cannot choose between; it fails the nodes of both.
fn report_ambiguous<D: Device>(entries: &[Entry<D>]) {
    for (n, entry) in entries.iter().enumerate() {
        let is_equal = |it: &&Entry<D>| it.priority_value() == entry.priority_value();
        let mut equals = entries[..n].iter().filter(is_equal);
        if let Some(earlier) = equals.find(|it| it.overlaps(entry)) {
            sp_runtime::report!(
                Warn,
                "{} and {} serve the same nodes with the same priority; TensorFlow runs neither there",
                earlier.label(),
                entry.label()
            );
        }
    }
}
