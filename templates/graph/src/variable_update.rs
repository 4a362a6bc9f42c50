//! Replaces ops that change variables, read rows of them, or draw random numbers by them, in graphs by ops of tensors.
//!
//! From 2.19 to 2.21 a plugin cannot use a variable, and core's kernels for `AssignAddVariableOp` and
//! `AssignSubVariableOp` use device memory from the host (the SDK registers errors in their place). A change is
//! then a read, a computation and an assignment of the whole variable. It is no longer atomic: if no edge orders two
//! changes, one can be lost.

mod binomial;
mod generator;
mod ops;
mod order;
mod replacement;
mod state;

use self::ops::VariableOp;
use self::order::Changing;
use crate::assignment;
use crate::proto::Message;
use crate::{Attribute, Graph, Kernels, Node, TypeNumber};

/// Replaces the ops on devices of this type. Returns true if there are any. `has_core_kernels` is true if core's kernels of
/// `AssignAddVariableOp` and `AssignSubVariableOp` can use the devices' memory.
pub fn replace(
    graph: &mut Graph,
    device_type: &str,
    kernels: &dyn Kernels,
    has_core_kernels: bool,
) -> bool {
    let target = Target {
        device_type,
        has_kernel: |op: &str, types: &[(&str, TypeNumber)]| kernels.has(op, types),
        has_core_kernels,
    };
    target.replace_in(graph)
}

/// The nodes to replace.
struct Target<'a, F> {
    device_type: &'a str,
    /// Returns true if the plugin has a kernel of the op for types of attributes.
    has_kernel: F,
    /// True if core's kernels of `AssignAddVariableOp` and `AssignSubVariableOp` can use the devices' memory.
    has_core_kernels: bool,
}

impl<F: Fn(&str, &[(&str, TypeNumber)]) -> bool> Target<'_, F> {
    /// Replaces the nodes of a graph. Returns true if there were any.
    fn replace_in(&self, graph: &mut Graph) -> bool {
        let (mut added, mut changing) = (Vec::new(), Vec::new());
        for node in &mut graph.nodes {
            if node.device_type() != Some(self.device_type) {
                continue;
            }
            match VariableOp::find(&node.op) {
                Some(op) if self.is_replaced(op) => {
                    added.extend(replacement::replace(node, op, &self.has_kernel));
                }
                Some(_) => {}
                None => {
                    let nodes = match node.op == binomial::OP {
                        true => binomial::replace(node, &self.has_kernel),
                        false => generator::replace(node, &self.has_kernel),
                    };
                    if let Some(nodes) = nodes {
                        changing.push(Changing {
                            variable: nodes.read.inputs[0].clone(),
                            node: node.name.clone(),
                            read: nodes.read.name.clone(),
                        });
                        added.push(nodes.into_vec());
                    }
                }
            }
        }
        let is_replaced = !added.is_empty();
        graph.nodes.extend(added.into_iter().flatten());
        order::chain(graph, changing);
        is_replaced
    }

    fn is_replaced(&self, op: &VariableOp) -> bool {
        !(op.has_core_kernel() && self.has_core_kernels)
    }
}

/// Returns the names of the ops that are replaced.
pub fn names() -> impl Iterator<Item = &'static str> {
    let generators = generator::names().chain([binomial::OP]);
    ops::names().chain(generators)
}

/// Returns a constant of int32 without dimensions on the node's device.
fn constant(node: &Node, suffix: &str, value: i64) -> Node {
    constant_of_shape(node, suffix, &[], value)
}

/// Returns a constant vector of one element of int32 on the node's device.
fn vector(node: &Node, suffix: &str, value: i64) -> Node {
    let dim = Message::default().number(1, 1).finish();
    constant_of_shape(
        node,
        suffix,
        &Message::default().bytes(2, dim).finish(),
        value,
    )
}

/// Returns a constant of equal elements in the frame of the node's second input: in a loop a node without inputs would be outside
/// of it. `shape` is a serialized `TensorShapeProto`.
fn constant_of_shape(node: &Node, suffix: &str, shape: &[u8], value: i64) -> Node {
    let dtype = TypeNumber::INT32;
    let tensor = Message::default().number(1, dtype.0.into()).bytes(2, shape);
    let tensor = tensor.number(7, value.cast_unsigned()).finish();
    let tensor = Attribute::from_bytes(Message::default().bytes(8, tensor).finish());
    let mut constant = assignment::added_node(node, suffix, "Const");
    let source = node.inputs().nth(1).map_or("", |it| it.node);
    constant.inputs.push(format!("^{source}"));
    let attributes = [("dtype", dtype.into()), ("value", tensor)];
    constant.attributes.extend(assignment::named(attributes));
    constant
}

#[cfg(test)]
mod tests;
