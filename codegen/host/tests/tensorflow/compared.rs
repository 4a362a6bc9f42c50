//! Comparison of a plugin's outcome in sp-host and in TensorFlow.

/// The outcomes of one plugin in both: the step that failed and how, or `works`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    pub name: String,
    pub host: String,
    pub tensorflow: String,
}

/// Plugins for which the host is stricter on purpose: the row, the outcome in TensorFlow, and the reason.
const STRICTER: &str = "
DEVICE_REFUSED | works | TensorFlow uses the device anyway
without SP_Device.struct_size | works | TensorFlow does not check it
GRAPH_EMPTY | raises INTERNAL: EagerKernelExecute
    TensorFlow runs the empty graph and misses its outputs
PROFILER_FAILS | works | TensorFlow discards a profiler's status
PROFILER_ONCE | works | TensorFlow discards a profiler's status
";

impl Compared {
    /// Returns true if both outcomes are the same, with the same message if TensorFlow has one. The host may add to
    /// it, and may report an error where TensorFlow crashes.
    pub fn agrees(&self) -> bool {
        let (host, tensorflow) = (outcome(&self.host), outcome(&self.tensorflow));
        let same = match tensorflow {
            "crashes" | "ends" => host == tensorflow || host.starts_with("ends "),
            _ => host == tensorflow || host.starts_with(&format!("{tensorflow}; ")),
        };
        same || self.stricter().is_some()
    }

    /// Returns the reason for which the host is stricter, if it is.
    pub fn stricter(&self) -> Option<&'static str> {
        let mut rows = crate::rows::rows::<3>(STRICTER).into_iter();
        let [_, _, why] = rows.find(|[name, seen, _]| {
            *name == self.name && outcome(&self.tensorflow).starts_with(seen)
        })?;
        (outcome(&self.host) != "works").then_some(why)
    }
}

/// Returns the outcome without its step, since TensorFlow creates the device later than the host does.
pub fn outcome(line: &str) -> &str {
    let step = line.split_once(": ");
    step.filter(|(step, _)| !step.contains(' '))
        .map_or(line, |(_, outcome)| outcome)
}
