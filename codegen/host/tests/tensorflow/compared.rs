//! One plugin in both hosts, and whether they agree.

/// What became of it in sp-host and in TensorFlow: the step that went wrong and how, or `works`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    pub name: String,
    pub host: String,
    pub tensorflow: String,
}

/// Where the host says more than TensorFlow, on purpose: the row, the outcome in TensorFlow, and why.
const STRICTER: &[(&str, &str, &str)] = &[
    (
        "DEVICE_REFUSED",
        "works",
        "TensorFlow uses the device all the same",
    ),
    (
        "without SP_Device.struct_size",
        "works",
        "TensorFlow does not look",
    ),
    (
        "GRAPH_EMPTY",
        "raises INTERNAL: EagerKernelExecute",
        "TensorFlow runs the empty graph and misses its outputs",
    ),
    (
        "PROFILER_FAILS",
        "works",
        "TensorFlow drops what a profiler says",
    ),
    (
        "PROFILER_ONCE",
        "works",
        "TensorFlow drops what a profiler says",
    ),
];

impl Compared {
    /// Whether both came to the same end, with the same words where TensorFlow has any: the host may add
    /// what it knows. A crash is TensorFlow's way to say what the host has words for.
    pub fn agrees(&self) -> bool {
        let (host, tensorflow) = (outcome(&self.host), outcome(&self.tensorflow));
        let same = match tensorflow {
            "crashes" | "ends" => host == tensorflow || host.starts_with("ends "),
            _ => host == tensorflow || host.starts_with(&format!("{tensorflow}; ")),
        };
        same || self.stricter().is_some()
    }

    /// Why the host says more, where it does.
    pub fn stricter(&self) -> Option<&'static str> {
        let is_it = |(name, seen, _): &&(&str, &str, &str)| {
            *name == self.name && outcome(&self.tensorflow).starts_with(seen)
        };
        let (_, _, why) = STRICTER.iter().find(is_it)?;
        (outcome(&self.host) != "works").then_some(why)
    }
}

/// Without the step: TensorFlow makes the device later than the host does.
pub fn outcome(line: &str) -> &str {
    let step = line.split_once(": ");
    step.filter(|(step, _)| !step.contains(' '))
        .map_or(line, |(_, outcome)| outcome)
}
