//! The questions of passes: about the kernels of the plugin, and about a graph.

use std::collections::BTreeSet;
use std::ffi::CStr;

use crate::{InferredDim, TypeNumber};

/// The operands of an elementwise op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOperands {
    /// One operand.
    One,
    /// Two operands that broadcast.
    Broadcasting,
    /// Two operands of one shape.
    OfOneShape,
}

/// The kernels of the plugin.
pub trait Kernels {
    /// Returns true if there is a kernel of the op for these types of attributes.
    fn has(&self, op: &str, types: &[(&str, TypeNumber)]) -> bool;

    /// Returns the position of the first table with a kernel of the op for nodes whose attribute `T` is this type. The tables of
    /// an author come before that of the reference.
    fn first_table(&self, op: &str, dtype: TypeNumber) -> Option<usize>;

    /// Returns true if there is a kernel of the op with the label, and none without one in an earlier table.
    fn may_select(&self, op: &str, label: &CStr) -> bool;

    /// Returns the operands of an op that can be a step of a tree for nodes whose attribute `T` is this type.
    fn step_operands(&self, op: &str, dtype: TypeNumber) -> Option<StepOperands>;

    /// Returns true if an op can be the activation of a fused product for nodes whose attribute `T` is this type.
    fn is_activation(&self, op: &str, dtype: TypeNumber) -> bool;

    /// Returns true if a pass may replace a node of an op by one of another op: there is no kernel of the first op, or none in
    /// an earlier table than that of the other one.
    fn may_replace(&self, op: &str, other: &str, dtype: TypeNumber) -> bool {
        !is_earlier(self.first_table(op, dtype), self.first_table(other, dtype))
    }
}

/// Returns true if a kernel is in the first of two tables, of which either may be absent.
pub fn is_earlier(own: Option<usize>, other: Option<usize>) -> bool {
    own.is_some_and(|own| other.is_none_or(|other| own < other))
}

/// Facts of a graph that TensorFlow has.
pub trait GraphFacts {
    /// Returns the names of the nodes that must stay, or `None` if TensorFlow cannot list them.
    fn preserved_nodes(&self) -> Option<BTreeSet<String>>;

    /// Returns true if TensorFlow infers the shapes of the graph's tensors.
    fn has_shapes(&self) -> bool;

    /// Returns the dimensions of a node's output 0, as far as they can be inferred.
    fn dims(&self, node: &str) -> Option<Vec<InferredDim>>;
}
