//! AssignAddVariableOp: adds to a variable, in releases whose core has no kernel for a
//! plugin's device.

use sp_abi::kernels_experimental::TF_AssignUpdateVariable;

use super::prelude::*;
use crate::compute::map::update;

#[kernel(
    op = "AssignAddVariableOp",
    dtype = [f32, f64, i32, i64],
    host = ["resource"],
    releases = "2.6..2.14",
    needs = [TF_AssignUpdateVariable]
)]
fn assign_add_variable_op<T: Element + Number>(cx: &Host<'_>) -> Result<()> {
    cx.update_variable::<T>(0, 1, |variable, value| update(variable, value, arith::add))
}
