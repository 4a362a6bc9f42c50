//! The ops that use a variable, and the computation with tensors that replaces each.

use crate::assignment::{AssignUpdate, UpdateStep};

/// An op that uses a variable.
#[derive(Debug)]
pub struct VariableOp {
    pub name: &'static str,
    /// The attribute that is the variable's type.
    pub dtype: &'static str,
    pub computation: Computation,
}

/// A computation with the variable's value and the other inputs of the op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Computation {
    /// The sum or difference with the input, which is assigned.
    Updated(AssignUpdate),
    /// The value with rows changed by an op, which is assigned.
    ChangedRows(&'static str),
    /// The value with rows multiplied or divided by an op, which is assigned. The operand is the product of the row's updates.
    ScaledRows(&'static str),
    /// The value with slices changed by an op, which is assigned.
    ChangedSlices(&'static str),
    /// The value with a slice as Python writes it replaced, which is assigned.
    ChangedStridedSlice,
    /// The selected rows.
    Rows,
    /// The selected slices.
    Slices,
}

use Computation::{
    ChangedRows, ChangedSlices, ChangedStridedSlice, Rows, ScaledRows, Slices, Updated,
};

const fn update(update: AssignUpdate) -> VariableOp {
    op(update.op(), "dtype", Updated(update))
}

const fn op(name: &'static str, dtype: &'static str, computation: Computation) -> VariableOp {
    VariableOp {
        name,
        dtype,
        computation,
    }
}

#[rustfmt::skip]
static OPS: &[VariableOp] = &[
    update(AssignUpdate::Add),
    update(AssignUpdate::Sub),
    op("ResourceScatterAdd", "dtype", ChangedRows("TensorScatterAdd")),
    op("ResourceScatterSub", "dtype", ChangedRows("TensorScatterSub")),
    op("ResourceScatterMul", "dtype", ScaledRows("Mul")),
    op("ResourceScatterDiv", "dtype", ScaledRows("Div")),
    op("ResourceScatterMin", "dtype", ChangedRows("TensorScatterMin")),
    op("ResourceScatterMax", "dtype", ChangedRows("TensorScatterMax")),
    op("ResourceScatterUpdate", "dtype", ChangedRows("TensorScatterUpdate")),
    op("ResourceScatterNdAdd", "T", ChangedSlices("TensorScatterAdd")),
    op("ResourceScatterNdSub", "T", ChangedSlices("TensorScatterSub")),
    op("ResourceScatterNdMin", "T", ChangedSlices("TensorScatterMin")),
    op("ResourceScatterNdMax", "T", ChangedSlices("TensorScatterMax")),
    op("ResourceScatterNdUpdate", "T", ChangedSlices("TensorScatterUpdate")),
    op("ResourceStridedSliceAssign", "T", ChangedStridedSlice),
    op("ResourceGather", "dtype", Rows),
    op("ResourceGatherNd", "dtype", Slices),
];

/// Returns the names of the ops that can be replaced.
pub fn names() -> impl Iterator<Item = &'static str> {
    OPS.iter().map(|it| it.name)
}

impl VariableOp {
    /// Returns the op of this name, or `None` if it is none that can be replaced.
    pub fn find(name: &str) -> Option<&'static Self> {
        OPS.iter().find(|it| it.name == name)
    }

    /// Returns true if core has kernels of the op for the numbers of a plugin's device.
    pub fn has_core_kernel(&self) -> bool {
        matches!(self.computation, Updated(_))
    }
}

impl Computation {
    /// Returns the ops of which the plugin needs kernels. Of the others core has kernels for every device.
    pub fn ops(self) -> Vec<&'static str> {
        match self {
            Updated(update) => update.steps().iter().copied().map(UpdateStep::op).collect(),
            ChangedRows(op) | ChangedSlices(op) => vec![op],
            ScaledRows(op) => vec!["UnsortedSegmentProd", op],
            ChangedStridedSlice => vec!["TensorStridedSliceUpdate"],
            Rows => vec!["GatherV2"],
            Slices => vec!["GatherNd"],
        }
    }

    /// Returns the name of the ops' attribute that is the variable's type.
    pub fn dtype(self) -> &'static str {
        match self {
            Rows | Slices => "Tparams",
            _ => "T",
        }
    }

    /// Returns the number of inputs, with the variable and without control inputs.
    pub fn inputs(self) -> usize {
        match self {
            ChangedRows(_) | ScaledRows(_) | ChangedSlices(_) => 3,
            ChangedStridedSlice => 5,
            _ => 2,
        }
    }
}
