//! The nodes that replace an op of a variable: a read, a computation with tensors, and an assignment of the whole variable.

use crate::{Attribute, Node};

/// An op that assigns to a variable the sum or the difference of its value and a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssignUpdate {
    Add,
    Sub,
}

/// An op of tensors in the computation of the new value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateStep {
    /// Negates the change.
    Negate,
    /// Adds the change to the variable's value.
    Add,
}

impl AssignUpdate {
    /// Returns the update that the op computes, or `None` for another op.
    pub fn find(op: &str) -> Option<Self> {
        [Self::Add, Self::Sub].into_iter().find(|it| it.op() == op)
    }

    /// Returns the name of the op.
    pub const fn op(self) -> &'static str {
        match self {
            Self::Add => "AssignAddVariableOp",
            Self::Sub => "AssignSubVariableOp",
        }
    }

    /// Returns the computation of the new value, in order.
    pub const fn steps(self) -> &'static [UpdateStep] {
        match self {
            Self::Add => &[UpdateStep::Add],
            Self::Sub => &[UpdateStep::Negate, UpdateStep::Add],
        }
    }

    /// Returns the new value, from the variable's value and the change. `compute` returns the result of a step for its
    /// operands.
    pub fn new_value<V: Clone>(
        self,
        variable: &V,
        change: V,
        mut compute: impl FnMut(UpdateStep, Vec<V>) -> V,
    ) -> V {
        self.steps().iter().fold(change, |change, step| {
            let operands = match step {
                UpdateStep::Negate => vec![change],
                UpdateStep::Add => vec![variable.clone(), change],
            };
            compute(*step, operands)
        })
    }
}

impl UpdateStep {
    /// Returns the name of the op. `AddN` rejects different shapes as the ops that change a variable do.
    pub const fn op(self) -> &'static str {
        match self {
            Self::Negate => "Neg",
            Self::Add => "AddN",
        }
    }
}

/// Returns a read of the variable that is the first input of `node`. It waits for the nodes `sources`.
pub fn read_after<'n>(
    node: &Node,
    dtype: Attribute,
    sources: impl IntoIterator<Item = &'n str>,
) -> Node {
    let mut read = added_node(node, "read", "ReadVariableOp");
    read.inputs.push(node.inputs[0].clone());
    for control in sources.into_iter().map(|it| format!("^{it}")) {
        if !read.inputs.contains(&control) {
            read.inputs.push(control);
        }
    }
    read.attributes.push(("dtype".into(), dtype));
    read
}

/// Makes the node an assignment of `value` to the variable that is its first input.
pub fn become_assignment(node: &mut Node, dtype: Attribute, value: String) {
    let inputs = vec![node.inputs[0].clone(), value];
    become_op(node, "AssignVariableOp", inputs, [("dtype", dtype)]);
}

/// Makes the node one of another op, with its name, its control inputs and the attributes that belong to no op.
pub fn become_op<'n>(
    node: &mut Node,
    op: &str,
    inputs: Vec<String>,
    attributes: impl IntoIterator<Item = (&'n str, Attribute)>,
) {
    node.op = op.into();
    let controls = node.inputs.drain(..).filter(|it| it.starts_with('^'));
    node.inputs = inputs.into_iter().chain(controls).collect();
    node.attributes.retain(|(name, _)| name.starts_with('_'));
    node.attributes.extend(named(attributes));
}

/// Returns a node that replaces a part of `node`, on the same device and without inputs.
pub fn added_node(node: &Node, suffix: &str, op: &str) -> Node {
    let mut added = Node::new(format!("{}/plugin_{suffix}", node.name), op);
    added.device.clone_from(&node.device);
    added
}

/// Returns the attributes with owned names.
pub fn named<'n>(
    attributes: impl IntoIterator<Item = (&'n str, Attribute)>,
) -> impl Iterator<Item = (String, Attribute)> {
    let attributes = attributes.into_iter();
    attributes.map(|(name, it)| (name.into(), it))
}
