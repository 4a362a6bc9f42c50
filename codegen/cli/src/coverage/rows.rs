//! The rows of the report: ops by types and by the kernel that computed them.

use super::call_report::{self, KernelCalls};
use super::process::{CPU, Process, RegisteredKernel, Types};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// The kernel that computed an op. A later one costs more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// A kernel of the plugin's author.
    Own,
    /// A kernel of core's that serves every device.
    Core,
    /// The CPU, for an op of `tf.data`, of which no device has a kernel.
    Pipeline,
    /// A kernel of the reference backend.
    Reference,
    /// A kernel on host memory, with staging copies.
    Staged,
    /// The CPU, although the device has a kernel.
    Cpu,
    /// The CPU, since the device has no kernel.
    Absent,
}

impl Class {
    /// All classes, the cheapest first.
    pub const ALL: [Self; 7] = [
        Self::Own,
        Self::Core,
        Self::Pipeline,
        Self::Reference,
        Self::Staged,
        Self::Cpu,
        Self::Absent,
    ];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Core => "core",
            Self::Pipeline => "pipeline",
            Self::Reference => "reference",
            Self::Staged => "staged",
            Self::Cpu => "cpu",
            Self::Absent => "absent",
        }
    }

    /// Returns the description of the class.
    pub fn description(self) -> &'static str {
        match self {
            Self::Own => "a kernel of the plugin's author",
            Self::Core => "a kernel of TensorFlow's for every device",
            Self::Pipeline => "the CPU: an op of tf.data",
            Self::Reference => "a kernel of the reference backend",
            Self::Staged => "a kernel on host memory, with staging copies",
            Self::Cpu => "the CPU, although the device has a kernel",
            Self::Absent => "the CPU, since the device has no kernel",
        }
    }

    /// Returns true if a kernel of the author would replace it.
    pub fn is_candidate(self) -> bool {
        self.has_share() && self != Self::Own
    }

    /// Returns true if its time is one that a kernel of the author takes or could take. Core's kernels for every device move no data,
    /// and the input pipeline runs beside the device.
    pub fn has_share(self) -> bool {
        !matches!(self, Self::Core | Self::Pipeline)
    }
}

/// An op with types, and the kernel that computed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The op.
    pub op: String,
    /// The types of attributes, such as `T=float Tidx=int32`.
    pub types: String,
    /// The kernel that computed it.
    pub class: Class,
    /// The calls.
    pub calls: u64,
    /// The time in nanoseconds: that of the plugin's profiler, or without one the time on the host, which is that of the enqueueing
    /// for an asynchronous device.
    pub nanoseconds: u64,
    /// The calls with staging copies.
    pub staged_calls: u64,
    /// The bytes of these copies.
    pub staged_bytes: u64,
    /// The crate that has the kernel, if the plugin states it.
    pub owner: Option<String>,
    /// The reason of the placement, for `cpu` and `absent`.
    pub reason: String,
}

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

/// Parts of the names of ops of `tf.data`. Their values are datasets, iterators and optionals, which are objects of the host.
const PIPELINES: [&str; 3] = ["Dataset", "Iterator", "Optional"];

/// Nodes of one op, types and device.
struct Site<'p> {
    op: &'p str,
    types: &'p Types,
    device_type: &'p str,
    calls: u64,
    nanoseconds: u64,
}

/// Returns the rows of a process.
pub fn of_process(process: &Process) -> Vec<Row> {
    let reports = process.plugins.iter().filter_map(|(_, text)| text.as_ref());
    let kernels: Vec<KernelCalls> = reports.flat_map(|it| call_report::parse(it)).collect();
    let mut called: HashMap<&str, Vec<&KernelCalls>> = HashMap::new();
    for kernel in kernels.iter().filter(|it| it.calls > 0) {
        called.entry(&kernel.op).or_default().push(kernel);
    }
    let mut sites = sites(process);
    add_eager_calls(&mut sites, process, &called);
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
        let on_host = || sites.iter().map(|it| it.nanoseconds).sum();
        let time = profiled.get(op).copied().unwrap_or_else(on_host);
        match called.get(op) {
            Some(kernels) => rows.extend(device_rows(time, kernels)),
            None => rows.extend(sites.iter().map(|it| unreported_row(process, it))),
        }
    }
    rows.retain(|it| it.calls > 0);
    rows
}

/// Returns the places of all nodes, with their calls in graphs.
fn sites(process: &Process) -> Vec<Site<'_>> {
    let executed = process.executed.iter();
    let executed: HashMap<(&str, &str), (u64, u64)> = executed
        .map(|(name, op, calls, time)| ((name.as_str(), op.as_str()), (*calls, *time)))
        .collect();
    let nodes = process.nodes.iter();
    let nodes = nodes.filter(|(op, ..)| !TRANSFERS.contains(&op.as_str()));
    // Nodes of several functions may have one name: each has an equal part of the calls.
    let mut sharing: HashMap<(&str, &str), u64> = HashMap::new();
    for key in nodes.clone().flat_map(|(op, .., names)| keys(op, names)) {
        *sharing.entry(key).or_default() += 1;
    }
    let mut sites = Vec::new();
    for (op, device_type, types, names) in nodes {
        let parts = keys(op, names).filter_map(|key| {
            let ((calls, time), count) = (executed.get(&key)?, sharing.get(&key)?);
            Some((calls.div_ceil(*count), time / count))
        });
        let (calls, nanoseconds) = parts.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        sites.push(Site {
            op,
            types,
            device_type,
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

/// Adds the calls in eager mode. The profiler has them by op: those on the device are the ones that the plugin counted and that
/// no graph made, the rest is the CPU's.
fn add_eager_calls(
    sites: &mut [Site<'_>],
    process: &Process,
    called: &HashMap<&str, Vec<&KernelCalls>>,
) {
    for (op, calls, nanoseconds) in &process.eager {
        let of_op = |it: &&mut Site<'_>| it.op == op;
        let on_device = |it: &Site<'_>| it.device_type != CPU;
        let all: Vec<&mut Site<'_>> = sites.iter_mut().filter(of_op).collect();
        let (mut device, mut host): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|it| on_device(it));
        let in_graphs: u64 = device.iter().map(|it| it.calls).sum();
        let counted = called.get(op.as_str());
        let counted: Option<u64> = counted.map(|it| it.iter().map(|it| it.calls).sum());
        let device_calls = match (device.is_empty(), host.is_empty(), counted) {
            (true, ..) => 0,
            (_, true, _) => *calls,
            (_, _, Some(counted)) => counted.saturating_sub(in_graphs).min(*calls),
            (_, _, None) => calls / 2,
        };
        let time = |part: u64| match calls {
            0 => 0,
            calls => (u128::from(*nanoseconds) * u128::from(part) / u128::from(*calls)) as u64,
        };
        spread(&mut device, device_calls, time(device_calls));
        let host_calls = calls - device_calls;
        spread(&mut host, host_calls, time(host_calls));
    }
}

/// Adds calls and their time to sites in equal parts; the first ones have what cannot be divided.
fn spread(sites: &mut [&mut Site<'_>], calls: u64, nanoseconds: u64) {
    let count = sites.len() as u64;
    for (index, site) in (0..).zip(sites) {
        site.calls += calls / count + u64::from(index < calls % count);
        site.nanoseconds += nanoseconds / count;
    }
}

/// Returns the rows of an op on the device, from the calls that the plugin counted. The time is divided by calls.
fn device_rows(nanoseconds: u64, kernels: &[&KernelCalls]) -> Vec<Row> {
    let all: u64 = kernels.iter().map(|it| it.calls).sum();
    let row = |kernel: &&KernelCalls| Row {
        op: kernel.op.clone(),
        types: kernel.types.clone(),
        class: match (kernel.staged > 0, kernel.is_reference()) {
            (true, _) => Class::Staged,
            (false, true) => Class::Reference,
            (false, false) => Class::Own,
        },
        calls: kernel.calls,
        nanoseconds: (u128::from(nanoseconds) * u128::from(kernel.calls) / u128::from(all)) as u64,
        staged_calls: kernel.staged,
        staged_bytes: kernel.staged_bytes,
        owner: kernel.owner.clone(),
        reason: String::new(),
    };
    kernels.iter().map(row).collect()
}

/// Returns the row of an op on the device that no plugin counted: core's, or that of a plugin without a report.
fn unreported_row(process: &Process, site: &Site<'_>) -> Row {
    let has_report = process.plugins.iter().any(|(_, text)| text.is_some());
    let mut kernels = process.kernels(site.op, site.device_type);
    let is_own = !has_report && kernels.any(|it| it.allows(site.types));
    let class = if is_own { Class::Own } else { Class::Core };
    row(site, class, String::new())
}

/// Returns the row of an op on the CPU.
fn host_row(process: &Process, site: &Site<'_>) -> Row {
    if PIPELINES.iter().any(|it| site.op.contains(it)) {
        return row(site, Class::Pipeline, String::new());
    }
    let kernels: Vec<&RegisteredKernel> = process
        .device_types()
        .chain(["DEFAULT"])
        .flat_map(|it| process.kernels(site.op, it))
        .collect();
    match kernels.iter().any(|it| it.allows(site.types)) {
        true => row(
            site,
            Class::Cpu,
            "the program or TensorFlow's placer chose the CPU".into(),
        ),
        false if kernels.is_empty() => row(site, Class::Absent, "no kernel".into()),
        false => row(site, Class::Absent, other_types(&kernels, site.types)),
    }
}

/// Returns the reason why no kernel serves a node: its types, and those that kernels have.
fn other_types(kernels: &[&RegisteredKernel], types: &Types) -> String {
    for (name, dtype) in types {
        let allowed = kernels.iter().filter_map(|it| it.1.get(name)).flatten();
        let mut allowed: Vec<&str> = allowed.map(String::as_str).collect();
        allowed.sort_unstable();
        allowed.dedup();
        if !allowed.is_empty() && !allowed.contains(&dtype.as_str()) {
            return format!(
                "no kernel for {name}={dtype}, only for {}",
                allowed.join(", ")
            );
        }
    }
    "no kernel for these types together".into()
}

fn row(site: &Site<'_>, class: Class, reason: String) -> Row {
    let types = site.types.iter().map(|(name, it)| format!("{name}={it}"));
    Row {
        op: site.op.to_owned(),
        types: types.collect::<Vec<_>>().join(" "),
        class,
        calls: site.calls,
        nanoseconds: site.nanoseconds,
        staged_calls: 0,
        staged_bytes: 0,
        owner: None,
        reason,
    }
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
