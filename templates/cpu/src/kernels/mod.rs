//! The reference kernels, one op a file.
//!
//! To add one: a file with a function under `#[kernel(..)]`, and its name in the table below.

mod elementwise;
mod reduction;

use crate::compute;
use sp_plugin::Error;

sp_plugin::kernels! {
    for D:
    add_v2, bias_add, bias_add_grad, cast, div_no_nan, mat_mul, mean, mul, neg, pow, pow_int, real_div, relu,
    relu_grad, sparse_softmax_cross_entropy_with_logits, sqrt, square, sub, sum,
    assign_add_variable_op, assign_sub_variable_op, assign_variable_op, destroy_resource_op, // since 2.6
    resource_apply_gradient_descent, // since 2.6
}

/// Imports of all kernel files.
mod prelude {
    pub(super) use super::elementwise::{binary, binary_with_cost, unary};
    pub(super) use crate::compute::Cost;
    pub(super) use crate::compute::arith::{self, Float, Integer, Number};
    pub(super) use sp_plugin::kernel::{Attributes, Host, kernel};
    pub(super) use sp_plugin::{Bool, Element, Error, Result};
}

impl From<compute::Error> for Error {
    fn from(error: compute::Error) -> Self {
        Self::invalid_argument(error.to_string())
    }
}
