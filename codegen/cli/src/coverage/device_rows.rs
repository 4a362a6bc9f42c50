//! The rows of an op on a device: the calls that the plugin has counted, by the types of the nodes.

use super::call_report::KernelCalls;
use super::process::{Process, Types};
use super::row::{Class, Row};
use super::sites::Site;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The executed nodes of an op with the same types.
struct Group<'p> {
    types: &'p Types,
    calls: u64,
    nanoseconds: u64,
    /// The calls that no kernel has yet.
    left: u64,
}

impl Group<'_> {
    fn rate(&self) -> f64 {
        self.nanoseconds as f64 / self.calls as f64
    }
}

/// Returns the rows of an op, from the calls that the plugin counted. A kernel states the types that it was registered for, which are
/// none for a kernel of all types; a node has all of them. So each kernel has a row for each types of the nodes that it serves, with
/// a part of its calls. `profiled` is the op's time by the plugin's profiler.
pub fn counted_rows(
    sites: &[Site<'_>],
    kernels: &[&KernelCalls],
    profiled: Option<u64>,
) -> Vec<Row> {
    let mut groups = groups(sites);
    let time: u64 = sites.iter().map(|it| it.nanoseconds).sum();
    let calls: u64 = kernels.iter().map(|it| it.calls).sum();
    // A profiler may have the time of the op only.
    let has_rates = profiled.is_none() || sites.iter().all(|it| it.is_profiled);
    let mean = match has_rates {
        true => time as f64 / calls.max(1) as f64,
        false => 1.0,
    };
    // A kernel with more constraints has fewer nodes to choose from.
    let mut kernels = kernels.to_vec();
    kernels.sort_by_key(|it| Reverse(it.types.len()));
    let mut rows = Vec::new();
    for kernel in kernels {
        for (calls, index) in divide(kernel, &mut groups) {
            let group = index.map(|it| &groups[it]);
            let rate = group.filter(|_| has_rates).map(Group::rate);
            let types = group.map_or(&kernel.types, |it| it.types);
            rows.push((counted_row(kernel, types, calls), rate.unwrap_or(mean)));
        }
    }
    with_times(rows, profiled.unwrap_or(time))
}

fn groups<'p>(sites: &[Site<'p>]) -> Vec<Group<'p>> {
    let mut groups: BTreeMap<&Types, Group<'p>> = BTreeMap::new();
    for site in sites.iter().filter(|it| it.calls > 0) {
        let group = groups.entry(site.types).or_insert_with(|| Group {
            types: site.types,
            calls: 0,
            nanoseconds: 0,
            left: 0,
        });
        group.calls += site.calls;
        group.left += site.calls;
        group.nanoseconds += site.nanoseconds;
    }
    groups.into_values().collect()
}

/// Returns the parts of a kernel's calls, each with the position of its group, or `None` if the kernel serves no executed node.
fn divide(kernel: &KernelCalls, groups: &mut [Group<'_>]) -> Vec<(u64, Option<usize>)> {
    let indices = 0..groups.len();
    let served: Vec<usize> = indices
        .filter(|index| kernel.allows(groups[*index].types))
        .collect();
    let has_left = served.iter().any(|it| groups[*it].left > 0);
    let weight = |group: &Group<'_>| if has_left { group.left } else { group.calls };
    let total: u64 = served.iter().map(|it| weight(&groups[*it])).sum();
    if total == 0 {
        return vec![(kernel.calls, None)];
    }
    let (mut parts, mut weights, mut before) = (Vec::new(), 0_u64, 0);
    for index in served {
        weights += weight(&groups[index]);
        let until = u128::from(kernel.calls) * u128::from(weights) / u128::from(total);
        let part = until as u64 - before;
        before += part;
        groups[index].left = groups[index].left.saturating_sub(part);
        parts.push((part, Some(index)));
    }
    parts
}

/// Returns the row of a part of a kernel's calls, without its time.
pub fn counted_row(kernel: &KernelCalls, types: &Types, calls: u64) -> Row {
    let part = |sum: u64| {
        let all = u128::from(kernel.calls.max(1));
        (u128::from(sum) * u128::from(calls) / all) as u64
    };
    Row {
        staged_calls: part(kernel.staged),
        staged_bytes: part(kernel.staged_bytes),
        owner: kernel.owner.clone(),
        ..Row::new(&kernel.op, types, kernel.class(), (calls, 0))
    }
}

/// Returns the rows with parts of `time`, in proportion to the calls and the time of one call.
fn with_times(rows: Vec<(Row, f64)>, time: u64) -> Vec<Row> {
    let weight = |(row, rate): &(Row, f64)| row.calls as f64 * rate;
    let total: f64 = rows.iter().map(weight).sum();
    let timed = rows.into_iter().map(|it| {
        let share = if total > 0.0 {
            weight(&it) / total
        } else {
            0.0
        };
        Row {
            nanoseconds: (time as f64 * share).round() as u64,
            ..it.0
        }
    });
    timed.collect()
}

/// Returns the row of an op on the device that no plugin counted: core's, or that of a plugin without a report.
pub fn unreported_row(process: &Process, site: &Site<'_>) -> Row {
    let has_report = process.plugins.iter().any(|(_, text)| text.is_some());
    let mut kernels = process.kernels(site.op, site.device_type);
    let is_own = !has_report && kernels.any(|it| it.allows(site.types));
    let class = if is_own { Class::Own } else { Class::Core };
    site.row(class, String::new())
}
