//! The kernels and ops that a plugin registers in one release, as a child process reports them.

use crate::dtype::DType;
use crate::text::{clip, escape_control};

/// The registration of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredKernel {
    /// The op.
    pub op: String,
    /// The device type.
    pub device: String,
    /// Type constraints: attributes and their types.
    pub constraints: Vec<(String, DType)>,
    /// Arguments in host memory.
    pub host_memory: Vec<String>,
    /// Priority: of the kernels that match a node, the highest runs.
    pub priority: i32,
    /// The label that a node has to select, or an empty text.
    pub label: String,
    /// True if the kernel may end after its compute function has returned.
    pub is_async: bool,
}

impl RegisteredKernel {
    /// Returns true if there is a node for which TensorFlow finds both kernels and cannot choose. sp-plugin has the
    /// same rule, `Kernel::overlaps`; the host does not use the code that it tests.
    pub fn is_ambiguous_with(&self, other: &Self) -> bool {
        let differs = |(name, dtype): &(String, DType)| {
            let mut others = other.constraints.iter();
            others.any(|(other, other_dtype)| other == name && other_dtype != dtype)
        };
        let key = |it: &Self| {
            let (op, device, label) = (it.op.clone(), it.device.clone(), it.label.clone());
            (op, device, label, it.priority)
        };
        key(self) == key(other) && !self.constraints.iter().any(differs)
    }
}

/// An op that the plugin defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinedOp {
    /// The name.
    pub name: String,
    /// The inputs, then the outputs.
    pub arguments: Vec<String>,
    /// The attributes.
    pub attributes: Vec<String>,
}

/// An op that has no kernel in the release, as the plugin states by `sp_plugin_settings`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LackingOp {
    /// The name.
    pub op: String,
    /// The reason.
    pub reason: String,
}

/// The reports of a child about registrations.
#[derive(Debug, Default)]
pub(crate) struct RegistrationReports {
    /// True if all registrations were reported.
    pub is_listed: bool,
    pub device_type: Option<String>,
    pub kernels: Vec<RegisteredKernel>,
    pub ops: Vec<DefinedOp>,
    pub lacking: Vec<LackingOp>,
}

/// Separates the fields of a report.
const FIELD: char = '\u{1f}';

/// Separates the items of a list. Texts of the plugin contain neither separator, since they are escaped.
const ITEM: char = '\u{1e}';

/// Largest size of a text of the plugin in bytes.
const TEXT: usize = 256;

/// Returns the reports of these registrations; an empty one is the end.
pub(crate) fn reports(
    device_type: Option<&str>,
    ops: &[DefinedOp],
    kernels: &[RegisteredKernel],
    lacking: &[LackingOp],
) -> Vec<String> {
    let device = device_type.map(|it| fields(&["device", &escaped(it)]));
    let ops = ops.iter().map(DefinedOp::to_report);
    let kernels = kernels.iter().map(RegisteredKernel::to_report);
    let lacking = lacking.iter().map(LackingOp::to_report);
    let parts = device.into_iter().chain(ops).chain(kernels).chain(lacking);
    parts.chain([String::new()]).collect()
}

impl RegistrationReports {
    /// Adds a report of the child. A malformed one is dropped.
    pub fn add(&mut self, report: &str) {
        let parts: Vec<&str> = report.split(FIELD).collect();
        match parts[..] {
            [""] => self.is_listed = true,
            ["device", device] => self.device_type = Some(device.to_owned()),
            ["op", name, arguments, attributes] => self.ops.push(DefinedOp {
                name: name.to_owned(),
                arguments: items(arguments),
                attributes: items(attributes),
            }),
            ["lacking", op, reason] => self.lacking.push(LackingOp {
                op: op.to_owned(),
                reason: reason.to_owned(),
            }),
            ["kernel", ..] => self.kernels.extend(RegisteredKernel::from_report(&parts)),
            _ => {}
        }
    }
}

impl DefinedOp {
    fn to_report(&self) -> String {
        let (arguments, attributes) = (list(&self.arguments), list(&self.attributes));
        fields(&["op", &escaped(&self.name), &arguments, &attributes])
    }
}

impl LackingOp {
    fn to_report(&self) -> String {
        fields(&["lacking", &escaped(&self.op), &escaped(&self.reason)])
    }
}

impl RegisteredKernel {
    fn to_report(&self) -> String {
        let constraint = |(name, dtype): &(String, DType)| format!("{}={name}", dtype.0);
        let constraints: Vec<String> = self.constraints.iter().map(constraint).collect();
        fields(&[
            "kernel",
            &escaped(&self.op),
            &escaped(&self.device),
            &list(&constraints),
            &list(&self.host_memory),
            &self.priority.to_string(),
            &escaped(&self.label),
            &self.is_async.to_string(),
        ])
    }

    fn from_report(parts: &[&str]) -> Option<Self> {
        let &[
            _,
            op,
            device,
            constraints,
            host_memory,
            priority,
            label,
            is_async,
        ] = parts
        else {
            return None;
        };
        let constraint = |it: String| {
            let (dtype, name) = it.split_once('=')?;
            Some((name.to_owned(), DType(dtype.parse().ok()?)))
        };
        Some(Self {
            op: op.to_owned(),
            device: device.to_owned(),
            constraints: items(constraints)
                .into_iter()
                .map(constraint)
                .collect::<Option<_>>()?,
            host_memory: items(host_memory),
            priority: priority.parse().ok()?,
            label: label.to_owned(),
            is_async: is_async.parse().ok()?,
        })
    }
}

fn escaped(text: &str) -> String {
    clip(&escape_control(text), TEXT)
}

fn fields(fields: &[&str]) -> String {
    fields.join(&FIELD.to_string())
}

fn list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|it| escaped(it)).collect();
    items.join(&ITEM.to_string())
}

fn items(list: &str) -> Vec<String> {
    let items = list.split(ITEM).filter(|it| !it.is_empty());
    items.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_round_trip_and_escape_separators() {
        let kernel = RegisteredKernel {
            op: "Sum".to_owned(),
            device: "DEMO".to_owned(),
            constraints: vec![
                ("T".to_owned(), DType::FLOAT),
                ("a=b\u{1f}".to_owned(), DType(99)),
            ],
            host_memory: vec!["reduction_indices".to_owned()],
            priority: -3,
            label: "fast".to_owned(),
            is_async: true,
        };
        let op = DefinedOp {
            name: "Fused".to_owned(),
            arguments: vec!["x".to_owned(), "y".to_owned()],
            attributes: vec![],
        };
        let lacking = LackingOp {
            op: "Cast".to_owned(),
            reason: "F is absent".to_owned(),
        };
        let mut found = RegistrationReports::default();
        for report in [kernel.to_report(), op.to_report(), lacking.to_report()] {
            found.add(&report);
        }
        assert!(!found.is_listed);
        let mut expected = kernel;
        expected.constraints[1].0 = "a=b\\u{1f}".to_owned();
        assert_eq!(found.kernels, [expected]);
        assert_eq!(found.ops, [op]);
        assert_eq!(found.lacking, [lacking]);
    }

    #[test]
    fn malformed_reports_are_dropped() {
        let mut found = RegistrationReports::default();
        for report in ["kernel", "kernel\u{1f}Relu", "op\u{1f}Relu", "other"] {
            found.add(report);
        }
        assert!(found.kernels.is_empty() && found.ops.is_empty() && !found.is_listed);
        found.add("");
        assert!(found.is_listed);
    }
}
