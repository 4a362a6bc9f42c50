//! AssignVariableOp: a variable's value, in releases whose core has no kernel for a plugin's
//! device.

use sp_abi::kernels_experimental::TF_AssignVariable;

use super::prelude::*;

/// The op's attributes. Older releases have no `validate_shape`.
#[derive(Attributes)]
struct ValidateShape {
    validate_shape: Option<bool>,
}

#[kernel(
    op = "AssignVariableOp",
    dtype = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, f32, f64],
    host = ["resource"],
    releases = "2.6..2.10",
    needs = [TF_AssignVariable]
)]
fn assign_variable_op<T: Element>(cx: &Host<'_>, attributes: &ValidateShape) -> Result<()> {
    cx.assign_variable::<T>(0, 1, attributes.validate_shape.unwrap_or(false))
}
