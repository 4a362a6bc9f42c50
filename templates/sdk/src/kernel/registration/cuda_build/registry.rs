//! Core's registry of kernels and of ops, as far as it matters to a device of type GPU.

use std::collections::{BTreeMap, BTreeSet};

use super::{PRIORITY, eager};
use crate::Result;
use sp_graph::proto::{Value, bytes_of, fields, malformed};

/// Numbers of fields in TensorFlow's messages.
mod field {
    /// `KernelList.kernel` and `OpList.op`.
    pub const ITEM: u64 = 1;
    /// `KernelDef.op`, `OpDef.name` and `ArgDef.name`.
    pub const NAME: u64 = 1;
    pub const DEVICE_TYPE: u64 = 2;
    pub const LABEL: u64 = 5;
    pub const PRIORITY: u64 = 6;
    pub const INPUT: u64 = 2;
    pub const OUTPUT: u64 = 3;
    pub const ARGUMENT_TYPE: u64 = 3;
    pub const ARGUMENT_IS_REF: u64 = 16;
    pub const IS_STATEFUL: u64 = 17;
}

/// `DataType.DT_RESOURCE`.
const RESOURCE: u64 = 20;

/// The ops with kernels of type GPU, each with the labels of these kernels; mostly the empty one.
pub(super) type Labels = BTreeMap<String, BTreeSet<String>>;

/// Returns the ops of which core has a kernel of type GPU.
///
/// # Errors
/// Returns an error if the running TensorFlow does not list its kernels.
pub(super) fn ops_of_type_gpu() -> Result<Labels> {
    parse_kernels(eager::registered_kernels()?.bytes()?)
}

fn parse_kernels(list: &[u8]) -> Result<Labels> {
    let mut found = Labels::new();
    for kernel in bytes_of(list, field::ITEM)? {
        // A negative number is encoded as its two's complement.
        let is_of_core = (number(kernel, field::PRIORITY)? as i64) < i64::from(PRIORITY);
        if is_of_core && text(kernel, field::DEVICE_TYPE)? == "GPU" {
            let labels = found.entry(text(kernel, field::NAME)?).or_default();
            labels.insert(text(kernel, field::LABEL)?);
        }
    }
    Ok(found)
}

/// The arguments of an op.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Op {
    /// The names of the inputs and the outputs that are no references, which cannot be copied to the host.
    pub arguments: Vec<String>,
    /// True if an argument is a reference or a handle of a resource, which only the context that created it has.
    pub has_resource: bool,
    /// True if the op has a state, such as that of a random generator.
    pub is_stateful: bool,
}

/// Returns the ops that are registered, by name.
///
/// # Errors
/// Returns an error if the running TensorFlow does not list its ops.
pub(super) fn ops() -> Result<BTreeMap<String, Op>> {
    parse_ops(eager::registered_ops()?.bytes()?)
}

fn parse_ops(list: &[u8]) -> Result<BTreeMap<String, Op>> {
    let ops = bytes_of(list, field::ITEM)?.into_iter();
    ops.map(|op| Ok((text(op, field::NAME)?, parse_op(op)?)))
        .collect()
}

fn parse_op(op: &[u8]) -> Result<Op> {
    let mut found = Op {
        is_stateful: number(op, field::IS_STATEFUL)? != 0,
        ..Op::default()
    };
    let mut arguments = bytes_of(op, field::INPUT)?;
    arguments.extend(bytes_of(op, field::OUTPUT)?);
    for argument in arguments {
        let is_ref = number(argument, field::ARGUMENT_IS_REF)? != 0;
        found.has_resource |= is_ref || number(argument, field::ARGUMENT_TYPE)? == RESOURCE;
        if !is_ref {
            found.arguments.push(text(argument, field::NAME)?);
        }
    }
    Ok(found)
}

/// Returns a text, which is empty if the field is absent.
fn text(message: &[u8], number: u64) -> Result<String> {
    let last = bytes_of(message, number)?.pop();
    Value::Bytes(last.unwrap_or_default()).text()
}

/// Returns a number, which is 0 if the field is absent.
fn number(message: &[u8], number: u64) -> Result<u64> {
    let mut found = 0;
    for field in fields(message) {
        let field = field?;
        if field.number == number {
            found = field.value.number().ok_or_else(malformed)?;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_graph::proto::Message;

    fn kernel(op: &str, device: &str, label: &str, priority: u64) -> Vec<u8> {
        Message::default()
            .text(1, op)
            .text(2, device)
            .text(5, label)
            .number(6, priority)
            .finish()
    }

    #[test]
    fn groups_labels_of_core_kernels_of_type_gpu_by_op() {
        let kernels = [
            kernel("A", "GPU", "", 0),
            kernel("B", "CPU", "", 0),
            kernel("A", "GPU", "cudnn", 1),
            kernel("C", "DEFAULT", "", 0),
            kernel("OfPlugin", "GPU", "", 1000),
        ];
        let list = kernels
            .iter()
            .fold(Message::default(), |list, it| list.bytes(1, it))
            .finish();
        let labels = ["", "cudnn"].map(str::to_owned).into();
        assert_eq!(
            parse_kernels(&list).unwrap(),
            Labels::from([("A".to_owned(), labels)])
        );
        assert!(parse_kernels(&list[..list.len() - 1]).is_err());
    }

    #[test]
    fn parses_arguments_in_order_and_detects_resources() {
        let argument = |name, dtype, is_ref| {
            Message::default()
                .text(1, name)
                .number(3, dtype)
                .number(16, is_ref)
                .finish()
        };
        let op = |name, input: Vec<u8>| {
            Message::default()
                .text(1, name)
                .bytes(2, input)
                .bytes(3, argument("y", 1, 0))
                .finish()
        };
        let list = Message::default()
            .bytes(1, op("Plain", argument("x", 21, 0)))
            .bytes(1, op("Ref", argument("x", 1, 1)))
            .bytes(1, op("Handle", argument("x", 20, 0)))
            .finish();
        let ops = parse_ops(&list).unwrap();
        let resources: Vec<_> = ops.values().map(|it| it.has_resource).collect();
        assert_eq!(resources, [true, false, true]);
        let arguments: Vec<_> = ops.values().map(|it| it.arguments.join(" ")).collect();
        assert_eq!(arguments, ["x y", "x y", "y"]);
    }
}
