//! A row of the report, and the kernels that it distinguishes.

use super::process::{Types, types_text};
use serde::{Deserialize, Serialize};

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

    /// Returns true if a kernel of the plugin has computed the op.
    pub fn is_of_plugin(self) -> bool {
        matches!(self, Self::Own | Self::Reference | Self::Staged)
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

impl Row {
    /// Returns a row of calls without staging copies.
    pub fn new(op: &str, types: &Types, class: Class, (calls, nanoseconds): (u64, u64)) -> Self {
        Self {
            op: op.to_owned(),
            types: types_text(types),
            class,
            calls,
            nanoseconds,
            staged_calls: 0,
            staged_bytes: 0,
            owner: None,
            reason: String::new(),
        }
    }
}
