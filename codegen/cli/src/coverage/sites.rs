//! The nodes of a process with their calls, from the profiles of the host and of devices.

use super::call_report::KernelCalls;
use super::process::{CPU, Process, Types};
use super::row::{Class, Row};
use std::collections::{HashMap, HashSet};

/// Nodes that move values between functions and devices: no device computes them.
const TRANSFERS: [&str; 11] = [
    "NoOp",
    "_Arg",
    "_DeviceArg",
    "_DeviceRetval",
    "_EagerConst",
    "_HostRecv",
    "_HostSend",
    "_Recv",
    "_Retval",
    "_Send",
    "_SOURCE",
];

/// Nodes of one op, types and device.
pub struct Site<'p> {
    pub op: &'p str,
    pub types: &'p Types,
    pub device_type: &'p str,
    /// True if calls and time are those of the plugin's profiler, which has those of eager mode too.
    pub is_profiled: bool,
    pub calls: u64,
    pub nanoseconds: u64,
}

impl Site<'_> {
    /// Returns the row of the nodes, whose kernel is of `class` for the reason.
    pub fn row(&self, class: Class, reason: String) -> Row {
        Row {
            reason,
            ..Row::new(self.op, self.types, class, (self.calls, self.nanoseconds))
        }
    }
}

/// The called kernels of each op.
pub type CalledKernels<'k> = HashMap<&'k str, Vec<&'k KernelCalls>>;

/// Calls and nanoseconds of nodes, by name and op.
type NodeSums<'p> = HashMap<(&'p str, &'p str), (u64, u64)>;

fn node_sums(nodes: &[(String, String, u64, u64)]) -> NodeSums<'_> {
    let nodes = nodes.iter();
    nodes
        .map(|(name, op, calls, time)| ((name.as_str(), op.as_str()), (*calls, *time)))
        .collect()
}

/// Returns the places of all nodes: those on a device with their calls by the plugin's profiler, the others with those in graphs.
pub fn executed(process: &Process) -> Vec<Site<'_>> {
    let (on_host, on_device) = (
        node_sums(&process.executed),
        node_sums(&process.device_nodes),
    );
    let profiled: HashSet<&str> = on_device.keys().map(|(_, op)| *op).collect();
    let is_profiled = |op: &str, device: &str| device != CPU && profiled.contains(op);
    let nodes = process.nodes.iter();
    let nodes = nodes.filter(|(op, ..)| !TRANSFERS.contains(&op.as_str()));
    // Nodes of several functions may have one name: each has an equal part of the calls.
    let mut sharing: HashMap<_, u64> = HashMap::new();
    for (op, device, _, names) in nodes.clone() {
        for key in keys(op, names) {
            *sharing.entry((is_profiled(op, device), key)).or_default() += 1;
        }
    }
    let mut sites = Vec::new();
    for (op, device_type, types, names) in nodes {
        let is_profiled = is_profiled(op, device_type);
        let sums = if is_profiled { &on_device } else { &on_host };
        let parts = keys(op, names).filter_map(|key| {
            let (calls, time) = sums.get(&key)?;
            let count = sharing.get(&(is_profiled, key))?;
            Some((calls.div_ceil(*count), time / count))
        });
        let (calls, nanoseconds) = parts.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        sites.push(Site {
            op,
            types,
            device_type,
            is_profiled,
            calls,
            nanoseconds,
        });
    }
    sites
}

/// Returns the names of nodes, each with the op.
fn keys<'p>(op: &'p str, names: &'p [String]) -> impl Iterator<Item = (&'p str, &'p str)> {
    names.iter().map(move |name| (name.as_str(), op))
}

/// Adds the calls in eager mode. The profiler has them by op: those on the device are the ones of a node with the op's name in the
/// plugin's profile, or else those that the plugin counted and that no graph made; the rest is the CPU's.
pub fn add_eager_calls(sites: &mut [Site<'_>], process: &Process, called: &CalledKernels<'_>) {
    for (op, calls, nanoseconds) in &process.eager {
        let of_op = |it: &&mut Site<'_>| it.op == op;
        let on_device = |it: &Site<'_>| it.device_type != CPU;
        let all: Vec<&mut Site<'_>> = sites.iter_mut().filter(of_op).collect();
        let (mut device, mut host): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|it| on_device(it));
        let is_profiled = device.iter().any(|it| it.is_profiled);
        let in_graphs: u64 = device.iter().map(|it| it.calls).sum();
        let counted = called.get(op.as_str());
        let counted: Option<u64> = counted.map(|it| it.iter().map(|it| it.calls).sum());
        let device_calls = match (device.is_empty(), host.is_empty(), counted) {
            (true, ..) => 0,
            (_, true, _) => *calls,
            _ if is_profiled => profiled_eager_calls(process, op).min(*calls),
            (_, _, Some(counted)) => counted.saturating_sub(in_graphs).min(*calls),
            (_, _, None) => calls / 2,
        };
        let time = |part: u64| match calls {
            0 => 0,
            calls => (u128::from(*nanoseconds) * u128::from(part) / u128::from(*calls)) as u64,
        };
        if !is_profiled {
            spread(&mut device, device_calls, time(device_calls));
        }
        let host_calls = calls - device_calls;
        spread(&mut host, host_calls, time(host_calls));
    }
}

/// Returns the calls of an op in eager mode, whose node has the op's name, by the plugin's profiler.
fn profiled_eager_calls(process: &Process, op: &str) -> u64 {
    let mut nodes = process.device_nodes.iter();
    let eager = nodes.find(|(node, node_op, ..)| node == op && node_op == op);
    eager.map_or(0, |it| it.2)
}

/// Adds calls and their time to sites in equal parts; the first ones have what cannot be divided. Sites that no graph has executed
/// are those of eager mode, if there are any.
fn spread(sites: &mut [&mut Site<'_>], calls: u64, nanoseconds: u64) {
    let has_idle = sites.iter().any(|it| it.calls == 0);
    let sites = sites.iter_mut();
    let sites: Vec<_> = sites.filter(|it| !has_idle || it.calls == 0).collect();
    let count = sites.len() as u64;
    for (index, site) in (0..).zip(sites) {
        site.calls += calls / count + u64::from(index < calls % count);
        site.nanoseconds += nanoseconds / count;
    }
}
