//! AssignSubVariableOp: subtracts from a variable, on releases whose core has no kernel that serves a
//! plugin.

use sp_abi::kernels_experimental::TF_AssignUpdateVariable;

use super::prelude::*;
use crate::compute::map::change;

#[kernel(
    op = "AssignSubVariableOp",
    dtype = [f32, f64, i32, i64],
    host = ["resource"],
    releases = "2.6..2.14",
    needs = [TF_AssignUpdateVariable]
)]
fn assign_sub_variable_op<T: Element + Number>(cx: &Host<'_>) -> Result<()> {
    cx.update_variable::<T>(0, 1, |variable, value| change(variable, value, arith::sub))
}
