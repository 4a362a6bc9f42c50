//! The choice of a kernel, as TensorFlow makes it.

use super::invalid;
use crate::core::{Attr, KernelBuilder};
use crate::host::Host;
use crate::{Error, Op};

impl Host {
    /// Returns the kernel of highest priority whose type constraints match `op`.
    pub(crate) fn select(&self, op: &Op) -> Result<&KernelBuilder, Error> {
        let device = self.device_type();
        let same_op = self
            .kernels
            .iter()
            .filter(|kernel| kernel.op == op.name && kernel.device == device);
        if let Some(wrong) = same_op.clone().find_map(|kernel| unknown_attr(kernel, op)) {
            return Err(invalid(&op.name, wrong));
        }
        let matching = same_op.clone().filter(|kernel| matches_types(kernel, op));
        let matching: Vec<&KernelBuilder> = matching.collect();
        let top = matching.iter().map(|kernel| kernel.priority).max();
        match matching
            .iter()
            .filter(|kernel| Some(kernel.priority) == top)
            .collect::<Vec<_>>()[..]
        {
            [kernel] => Ok(kernel),
            [] => Err(Error::NoKernel(no_kernel_message(op, same_op))),
            [first, second, ..] => Err(invalid(
                &op.name,
                format!(
                    "Multiple OpKernel registrations match NodeDef at the same priority '{{{{node {}}}}}': '{first}' and '{second}'",
                    first.op
                ),
            )),
        }
    }
}

/// Returns the message about a type constraint on an attribute that the op does not have.
fn unknown_attr(kernel: &KernelBuilder, op: &Op) -> Option<String> {
    let mut names = kernel.constraints.iter().map(|(name, _)| name);
    let unknown = names.find(|name| !op.attrs.contains_key(*name))?;
    let attrs = op.attrs.iter();
    let attrs = attrs.map(|(name, value)| format!("{name}={value}"));
    let attrs: Vec<String> = attrs.collect();
    Some(format!(
        "OpKernel '{}' has constraint on attr '{unknown}' not in NodeDef '[{}]'",
        op.name,
        attrs.join(", ")
    ))
}

fn matches_types(kernel: &KernelBuilder, op: &Op) -> bool {
    kernel.label.is_empty()
        && kernel
            .constraints
            .iter()
            .all(|(attr, dtype)| match op.attrs.get(attr) {
                Some(Attr::Type(bound)) => bound == dtype,
                Some(Attr::List(items)) => items.iter().all(|item| *item == Attr::Type(*dtype)),
                _ => false,
            })
}

fn no_kernel_message<'a>(op: &Op, same_op: impl Iterator<Item = &'a KernelBuilder>) -> String {
    let list = same_op
        .map(|kernel| format!("{:?}", kernel.constraints))
        .collect::<Vec<_>>();
    let types = op.attrs.iter();
    let types = types.filter(|(_, value)| matches!(value, Attr::Type(_)));
    let types = types.map(|(name, value)| format!("{name}={value:?}"));
    let types: Vec<String> = types.collect();
    match list.is_empty() {
        true => format!("the plugin registered no kernel for {}", op.name),
        false => {
            format!(
                "no kernel of {} serves {}; there are {}",
                op.name,
                types.join(" "),
                list.join(" ")
            )
        }
    }
}
