//! Rules for the kernels of a plugin, and their findings: what TensorFlow registers and can never run.

use crate::rule::rules;
use sp_data::release::Release;
use sp_host::{DefinedOp, RegisteredKernel, Registrations};
use sp_ops::{AllowedValues, AttributeKind, DataType, OpDef, Table};
use std::collections::BTreeSet;

rules! {
    /// The rules in the order of a report.
    RULES: fn(&Subject<'_>) -> Option<String>;

    kernel_unknown_op: find_unknown_op,
    "A kernel is registered for an op that the release has. TensorFlow accepts a kernel for an op that \
     nobody defines, and never runs it.";

    kernel_unknown_attribute: find_unknown_attribute,
    "A kernel constrains only type attributes that the op has. TensorFlow fails every lookup of the op on \
     the device otherwise, also those that another kernel of the op would serve. Leave the constraint out \
     in releases whose op lacks the attribute.";

    kernel_type_not_allowed: find_type_not_allowed,
    "A kernel is registered for types that the op allows. No node has another one, so the kernel never runs.";

    kernel_contradictory_constraints: find_contradictory_constraints,
    "A kernel names one type for each attribute. A node must satisfy all constraints, so two types for one \
     attribute are satisfied by none. Register a kernel for each type.";

    kernel_unknown_host_argument: find_unknown_host_argument,
    "An argument in host memory is one of the op's inputs or outputs. TensorFlow fails every construction of \
     the kernel otherwise.";

    kernel_overlap: find_overlap,
    "Two kernels that serve the same nodes have different priorities. With equal priorities TensorFlow fails \
     these nodes.";

    kernel_other_device: find_other_device,
    "A kernel is registered for the device type of the plugin's platform. A kernel of another type runs only \
     if another plugin has such a device.";
}

/// A finding in one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelFinding {
    /// The id of the rule.
    pub rule: &'static str,
    /// The op.
    pub op: String,
    /// The kernel, and the reason why it can never run.
    pub message: String,
}

/// A kernel with what the rules compare it with.
pub(crate) struct Subject<'a> {
    kernel: &'a RegisteredKernel,
    earlier: &'a [RegisteredKernel],
    device_type: Option<&'a str>,
    op: OpInRelease<'a>,
}

/// The definition of a kernel's op in the release.
pub(crate) enum OpInRelease<'a> {
    /// The ops of the release are not known.
    Unknown,
    Absent,
    Core(OpDef),
    Own(&'a DefinedOp),
}

/// Returns the findings in one release.
pub fn find_all(registrations: &Registrations, table: &Table<'_>) -> Vec<KernelFinding> {
    let release = registrations.release.parse::<Release>().ok();
    let release = release.filter(|it| table.releases().any(|known| known == it.key()));
    let kernels = registrations.kernels.iter().enumerate();
    let findings = kernels.flat_map(|(n, kernel)| {
        let subject = Subject {
            kernel,
            earlier: &registrations.kernels[..n],
            device_type: registrations.device_type.as_deref(),
            op: op_in_release(kernel, &registrations.ops, release, table),
        };
        find_in(&subject)
    });
    findings.collect()
}

fn find_in(subject: &Subject<'_>) -> Vec<KernelFinding> {
    let found = RULES.iter().filter_map(|rule| {
        Some(KernelFinding {
            rule: rule.id,
            op: subject.kernel.op.clone(),
            message: format!("{}: {}", label(subject.kernel), (rule.find)(subject)?),
        })
    });
    found.collect()
}

fn op_in_release<'a>(
    kernel: &RegisteredKernel,
    own: &'a [DefinedOp],
    release: Option<Release>,
    table: &Table<'_>,
) -> OpInRelease<'a> {
    if let Some(op) = own.iter().find(|it| it.name == kernel.op) {
        return OpInRelease::Own(op);
    }
    let Some(release) = release else {
        return OpInRelease::Unknown;
    };
    let op = table.find(&kernel.op);
    op.and_then(|op| op.in_release(release.key()))
        .map_or(OpInRelease::Absent, OpInRelease::Core)
}

/// Returns the op and the constraints: `Sum T=float Tidx=int32`.
pub fn label(kernel: &RegisteredKernel) -> String {
    let constraints = kernel.constraints.iter();
    let constraints = constraints.map(|(name, dtype)| format!(" {name}={}", type_name(dtype.0)));
    format!("{}{}", kernel.op, constraints.collect::<String>())
}

/// Returns the name of a type as op definitions write it.
pub fn type_name(number: u32) -> String {
    let known = DataType::from_number(number).and_then(DataType::name);
    known.map_or_else(|| format!("type {number}"), str::to_owned)
}

fn find_unknown_op(subject: &Subject<'_>) -> Option<String> {
    let is_absent = matches!(subject.op, OpInRelease::Absent);
    is_absent.then(|| "TensorFlow has no such op".to_owned())
}

fn find_unknown_attribute(subject: &Subject<'_>) -> Option<String> {
    let mut names = subject.kernel.constraints.iter().map(|(name, _)| name);
    let is_type = |kind| matches!(kind, AttributeKind::Type);
    match &subject.op {
        OpInRelease::Core(op) => names.find_map(|name| match op.attribute(name) {
            None => Some(format!("the op has no attribute `{name}`")),
            Some(it) if !is_type(it.ty.kind) => Some(format!("`{name}` is not a type attribute")),
            Some(_) => None,
        }),
        OpInRelease::Own(op) => names
            .find(|name| !op.attributes.contains(name))
            .map(|name| format!("the op has no attribute `{name}`")),
        OpInRelease::Unknown | OpInRelease::Absent => None,
    }
}

fn find_type_not_allowed(subject: &Subject<'_>) -> Option<String> {
    let OpInRelease::Core(op) = &subject.op else {
        return None;
    };
    subject.kernel.constraints.iter().find_map(|(name, dtype)| {
        let AllowedValues::Types(allowed) = &op.attribute(name)?.allowed else {
            return None;
        };
        let is_allowed = DataType::from_number(dtype.0).is_some_and(|it| allowed.contains(&it));
        let wrong = type_name(dtype.0);
        (!is_allowed).then(|| format!("the op does not allow {wrong} for `{name}`"))
    })
}

fn find_contradictory_constraints(subject: &Subject<'_>) -> Option<String> {
    let constraints = &subject.kernel.constraints;
    let second = constraints.iter().enumerate().find(|(n, (name, dtype))| {
        let mut earlier = constraints[..*n].iter();
        earlier.any(|(other, other_dtype)| other == name && other_dtype != dtype)
    });
    second.map(|(_, (name, _))| format!("no node has two types for `{name}`"))
}

fn find_unknown_host_argument(subject: &Subject<'_>) -> Option<String> {
    let known: BTreeSet<&str> = match &subject.op {
        OpInRelease::Core(op) => {
            let arguments = op.inputs.iter().chain(&op.outputs);
            arguments.map(|it| it.name.as_str()).collect()
        }
        OpInRelease::Own(op) => op.arguments.iter().map(String::as_str).collect(),
        OpInRelease::Unknown | OpInRelease::Absent => return None,
    };
    let mut names = subject.kernel.host_memory.iter();
    let unknown = names.find(|name| !known.contains(name.as_str()));
    unknown.map(|name| {
        format!("the op has no input or output `{name}`, which is placed in host memory")
    })
}

fn find_overlap(subject: &Subject<'_>) -> Option<String> {
    let mut earlier = subject.earlier.iter();
    let other = earlier.find(|it| it.is_ambiguous_with(subject.kernel))?;
    let priority = subject.kernel.priority;
    Some(match label(other) == label(subject.kernel) {
        true => format!("registered twice with priority {priority}"),
        false => format!(
            "serves nodes of {} with the same priority {priority}",
            label(other)
        ),
    })
}

fn find_other_device(subject: &Subject<'_>) -> Option<String> {
    let (device, own) = (&subject.kernel.device, subject.device_type?);
    (device != own)
        .then(|| format!("registered for {device}, and the plugin's device type is {own}"))
}
