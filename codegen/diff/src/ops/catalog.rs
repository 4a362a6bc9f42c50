//! The kinds of changes of an op, and the rule of each.
//!
//! They are judged for a plugin that registers kernels, or creates nodes in a graph optimizer.

use super::ArgumentKind;
use super::handlers::{self, JudgedOp};
use crate::change::OldNew;
use crate::finding::{Bump, Finding, Impact};
use crate::rules::Rule;
use crate::rules::define::rules;
use sp_ops::{Argument, Attribute, Flag, Value};

const OP_DEF: &str = "tensorflow/core/framework/op_def.proto";
const KERNEL_LOOKUP: &str =
    "TF_KernelBuilder_TypeConstraint in kernels.h: a constraint names a type attribute of the op";

rules! {
    /// One difference between the definitions of an op. Texts are in the table's format.
    #[derive(Debug, Clone, PartialEq)]
    pub enum OpChange {}

    handlers: fn(&JudgedOp, ..) -> Finding;

    /// An op was added.
    ///
    /// Graphs of older hosts do not contain it, so a kernel for it is never called there.
    OpAdded => handlers::op_added, Compatible, Minor, OP_DEF;

    /// An input or output was added to an op.
    ///
    /// A kernel that does not know the input computes without it. An output that a kernel does not set has no value. On a
    /// host without the argument, a kernel that uses its index gets an error.
    ///
    /// Compare the number of inputs and outputs, or choose the kernel by the running release.
    ArgumentAdded(kind: ArgumentKind, argument: Argument) => handlers::op_argument_added, Breaking, Major, OP_DEF;

    /// The order of the inputs or outputs of an op changed.
    ///
    /// A kernel addresses arguments by index, so it uses another tensor than it expects.
    ArgumentMoved(kind: ArgumentKind, names: OldNew<Vec<String>>) => handlers::op_argument_moved, Breaking, Major, OP_DEF;

    /// An input or output was removed from an op.
    ///
    /// A kernel that uses its index gets another argument, or an error.
    ArgumentRemoved(kind: ArgumentKind, argument: Argument) => handlers::op_argument_removed, Breaking, Major, OP_DEF;

    /// The type of an input or output of an op changed.
    ///
    /// In 2.13 the output `indices` of TopKV2 got the type of the new attribute `index_type`; it was int32 before. A kernel
    /// that writes int32 is chosen for nodes with int64 too, unless its registration restricts the attribute.
    ///
    /// Restrict the new attribute to the types that the kernel knows, on the releases that have the attribute.
    ArgumentRetyped(kind: ArgumentKind, arguments: OldNew<Argument>) => handlers::op_argument_retyped, Breaking, Major, KERNEL_LOOKUP;

    /// An attribute with a default was added to an op.
    ///
    /// Nodes of older graphs get the default, so a kernel that does not read the attribute still computes what they state.
    /// It ignores another value, such as GatherNd's `bad_indices_policy`. On a host without the attribute, reading
    /// it is an error, and a type constraint on it makes each lookup of a kernel of the op fail.
    ///
    /// Read and restrict the attribute only on the releases that have it.
    AttributeAdded(attribute: Attribute) => handlers::op_attribute_added, Compatible, Minor, KERNEL_LOOKUP;

    /// An attribute was removed from an op.
    ///
    /// A kernel that reads it fails, and a type constraint on it makes each lookup of a kernel of the op fail.
    ///
    /// Read and restrict the attribute only on the releases that have it.
    AttributeRemoved(attribute: Attribute) => handlers::op_attribute_removed, Breaking, Major, KERNEL_LOOKUP;

    /// An attribute without a default was added to an op, or the default of one was removed.
    ///
    /// Every node must have the attribute. A graph optimizer that creates nodes without it makes invalid graphs.
    AttributeRequired(attribute: Attribute, former_default: Option<Value>) => handlers::op_attribute_required, Breaking, Major, OP_DEF;

    /// The type of an attribute of an op changed.
    ///
    /// A kernel that reads it as the type that it had fails.
    AttributeRetyped(attributes: OldNew<Attribute>) => handlers::op_attribute_retyped, Breaking, Major, OP_DEF;

    /// The default of an attribute changed, or was added.
    ///
    /// A kernel gets the value of the node, which TensorFlow fills in. A program that creates nodes without the attribute
    /// gets another value.
    DefaultChanged(attribute: String, old: Option<Value>, new: Value) => handlers::op_default_changed, Compatible, Minor, OP_DEF;

    /// A flag of an op changed: stateful, commutative, aggregate, deprecated, ...
    ///
    /// Flags do not affect kernels. TensorFlow folds and merges nodes only of ops without state, and an op that is
    /// deprecated is an error in graphs of that version.
    FlagChanged(flag: Flag, is_added: bool) => handlers::op_flag_changed, Compatible, Minor, OP_DEF;

    /// The least value or length of an attribute changed.
    ///
    /// A kernel may get values that it did not get before.
    MinimumChanged(attribute: String, minimums: OldNew<Option<i64>>) => handlers::op_minimum_changed, Compatible, Minor, OP_DEF;

    /// An op was removed.
    ///
    /// Graphs do not contain it any more, so a kernel for it is never called.
    OpRemoved => handlers::op_removed, Compatible, Minor, OP_DEF;

    /// An attribute allows more types or strings.
    ///
    /// A kernel that is registered for the types that it knows is not chosen for others. A kernel without a type
    /// constraint, or one that takes an unknown string for a known one, may misread its tensors.
    ///
    /// Register each kernel for its types, and reject unknown strings when the kernel is constructed.
    ValuesAdded(attribute: String, values: Vec<String>) => handlers::op_values_added, Compatible, Minor, KERNEL_LOOKUP;

    /// An attribute allows fewer types or strings.
    ///
    /// Kernels for the removed types are never called.
    ValuesRemoved(attribute: String, values: Vec<String>) => handlers::op_values_removed, Compatible, Minor, KERNEL_LOOKUP;
}
