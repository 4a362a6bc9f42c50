//! AssignVariableOp: a variable's value, on releases whose core has no kernel that serves a plugin.

use sp_abi::kernels_experimental::TF_AssignVariable;

use super::prelude::*;

/// What the op says of itself; older releases do not ask for the shape to be held.
#[derive(Attributes)]
struct Shape {
    validate_shape: Option<bool>,
}

#[kernel(
    op = "AssignVariableOp",
    dtype = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, f32, f64],
    host = ["resource"],
    releases = "2.6..2.10",
    needs = [TF_AssignVariable]
)]
fn assign_variable_op<T: Element>(cx: &Host<'_>, attributes: &Shape) -> Result<()> {
    cx.assign_variable::<T>(0, 1, attributes.validate_shape.unwrap_or(false))
}
