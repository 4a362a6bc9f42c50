//! The reference kernels, one file for each family of ops.
//!
//! To add one: a function under `#[kernel(..)]`, and its name in the table below.

mod cast;
mod elementwise;
mod mat_mul;
mod nn;
mod reduction;
mod variable; // since 2.6

use crate::compute;
use sp_plugin::Error;
use sp_plugin::kernel::{Kernel, kernels};

/// Returns the reference kernels, in order.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = elementwise::table();
    table.extend(kernels![
        cast::cast,
        mat_mul::mat_mul,
        nn::bias_add,
        nn::bias_add_grad,
        nn::relu_grad,
        nn::sparse_softmax_cross_entropy,
        reduction::mean,
        reduction::sum,
    ]);
    table.extend(variable::table()); // since 2.6
    table
}

/// Imports of all kernel files.
mod prelude {
    pub(super) use crate::compute::Cost;
    pub(super) use crate::compute::arith::{self, Float, Integer, Number};
    pub(super) use sp_plugin::kernel::{AttributeValue, HostIn, In, Integer as Index, Out, kernel};
    pub(super) use sp_plugin::{Bool, Element, Error, Result};
}

impl From<compute::Error> for Error {
    fn from(error: compute::Error) -> Self {
        Self::invalid_argument(error.to_string())
    }
}
