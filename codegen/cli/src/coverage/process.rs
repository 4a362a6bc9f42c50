//! The record of one process.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The types of a node's attributes, by name, such as `T` and `float`. A list has each of its types once, such as `float,int32`.
pub type Types = BTreeMap<String, String>;

/// Nodes: op, device type, types, names.
pub type Node = (String, String, Types, Vec<String>);

/// Returns the types as text, such as `T=float Tidx=int32`.
pub fn types_text(types: &Types) -> String {
    let types = types.iter().map(|(name, it)| format!("{name}={it}"));
    types.collect::<Vec<_>>().join(" ")
}

/// Returns true if all types of an attribute are allowed.
pub fn are_allowed(types: &str, is_allowed: impl Fn(&str) -> bool) -> bool {
    types.split(',').all(is_allowed)
}

/// The device type of the host.
pub const CPU: &str = "CPU";

/// One process that used TensorFlow.
#[derive(Debug, Default, Deserialize)]
pub struct Process {
    /// The arguments of Python.
    pub argv: Vec<String>,
    /// The exception that ended the recording.
    pub error: Option<String>,
    /// The release of TensorFlow.
    pub release: Option<String>,
    /// The types of the devices.
    #[serde(default)]
    pub devices: Vec<String>,
    /// The nodes of all graphs after placement.
    pub nodes: Vec<Node>,
    /// Calls and nanoseconds of nodes in graphs: name, op, calls, nanoseconds.
    pub executed: Vec<(String, String, u64, u64)>,
    /// Calls and nanoseconds of ops in eager mode.
    pub eager: Vec<(String, u64, u64)>,
    /// Calls and nanoseconds of ops on devices, as the plugin's profiler has them.
    #[serde(default)]
    pub device: Vec<(String, u64, u64)>,
    /// The same of nodes on devices, if the plugin's profiler has their names: name, op, calls, nanoseconds.
    #[serde(default)]
    pub device_nodes: Vec<(String, String, u64, u64)>,
    /// The kernels of each op.
    pub registered: BTreeMap<String, Vec<RegisteredKernel>>,
    /// The plugins: path, and the report of calls of one that has it.
    pub plugins: Vec<(String, Option<String>)>,
}

/// A kernel: device type, allowed types by attribute, label.
#[derive(Debug, Deserialize)]
pub struct RegisteredKernel(pub String, pub BTreeMap<String, Vec<String>>, pub String);

impl RegisteredKernel {
    /// Returns true if the kernel computes nodes with these types.
    pub fn allows(&self, types: &Types) -> bool {
        let is_served = |(name, allowed): (&String, &Vec<String>)| {
            let is_allowed = |it: &str| allowed.iter().any(|allowed| allowed == it);
            types.get(name).is_none_or(|it| are_allowed(it, is_allowed))
        };
        self.1.iter().all(is_served)
    }
}

impl Process {
    /// Returns the types of the devices other than the CPU. A device that TensorFlow makes of the CPU for XLA is none.
    pub fn device_types(&self) -> impl Iterator<Item = &str> {
        let devices = self.devices.iter().map(String::as_str);
        devices.filter(|it| *it != CPU && !it.starts_with("XLA_"))
    }

    /// Returns the message about a recording that failed.
    pub fn failure(&self) -> Option<String> {
        let error = self.error.as_ref()?;
        Some(format!("{}: {error}", self.argv.join(" ")))
    }

    /// Returns the kernels of an op for a device type; those for every device are of the type `DEFAULT`.
    pub fn kernels<'a>(
        &'a self,
        op: &str,
        device_type: &'a str,
    ) -> impl Iterator<Item = &'a RegisteredKernel> {
        let kernels = self.registered.get(op).into_iter().flatten();
        kernels.filter(move |it| it.0 == device_type && it.2.is_empty())
    }
}
