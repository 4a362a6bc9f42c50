//! The reference kernels, one file for each family of ops.
//!
//! To add one: a function under `#[kernel(..)]`, and its name in the `table!` of its file.

/// The error of a call's arguments, with a message as `format!` takes it.
macro_rules! invalid {
    ($($message:tt)*) => {
        Err(sp_plugin::Error::invalid_argument(format!($($message)*)))
    };
}

/// Defines the table of a file: its kernels, in order.
macro_rules! table {
    ($($kernels:tt)*) => {
        /// Returns the kernels of this file.
        pub fn table() -> Vec<&'static sp_plugin::kernel::Kernel> {
            sp_plugin::kernel::kernels![$($kernels)*]
        }
    };
}

/// Adds the kernels of files, in order, to a table.
macro_rules! extend {
    ($table:ident: $($file:ident)*) => { $($table.extend($file::table());)* };
}

mod activation;
mod batch_norm;
mod binomial;
mod bits;
mod boxes;
mod cast;
mod checks;
mod color;
mod complex_arrays;
mod conv;
mod conv3d;
mod conv_batches; // since 2.14
mod crop;
mod ctc;
mod cudnn_rnn;
mod diagonal;
mod distributions;
mod einsum;
#[doc(hidden)] // The macros of rows of the table name its functions.
pub mod elementwise;
mod format;
mod fourier;
mod fused;
mod gamma;
mod gather;
mod generator; // since 2.6
mod generator_state; // since 2.6
mod identity;
pub mod image;
mod inplace;
mod join;
#[doc(hidden)] // The macro of rows of the table names its function.
pub mod known_shapes;
mod layout;
mod mat_mul;
mod movement;
mod nn;
mod optimizers; // since 2.6
mod partition;
mod patches;
mod pool;
mod pool_positions;
mod projection;
mod quantize;
mod quantize_levels;
mod random;
mod reduction;
mod relation;
mod resize;
mod rows; // since 2.6
mod running;
mod scatter;
mod search;
mod seeded_random;
mod segment;
mod sequence;
mod shape;
mod slices; // since 2.6
mod softmax;
mod sorted;
mod space;
mod sparse;
mod sparse_segment;
mod sparse_training; // since 2.6
mod special;
mod stateful_random;
mod steps; // since 2.6
mod strided_slice;
mod text;
mod training; // since 2.6
mod variable; // since 2.6
mod variant; // since 2.10
mod volume;
mod xla;

use crate::compute;
use compute::machine::inline::InlineList;
use compute::steps::Function;
use sp_plugin::kernel::{HostIn, In, Integer, Kernel, kernels};
use sp_plugin::{Element, Error, Result};

/// Returns the reference kernels, in order.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = elementwise::table();
    known_shapes::state_elementwise(&table);
    table.extend(kernels![
        cast::cast,
        identity::identity,
        nn::bias_add,
        nn::bias_add_v1,
        nn::bias_add_grad,
        nn::sparse_softmax_cross_entropy,
        text::string_length,
        text::hash_bucket, // since 2.6
    ]);
    extend! { table:
        activation binomial bits boxes checks format fourier inplace reduction relation patches mat_mul
        pool pool_positions softmax special batch_norm conv conv3d
        conv_batches // since 2.14
        crop ctc cudnn_rnn color complex_arrays einsum fused projection resize quantize quantize_levels
        random stateful_random seeded_random gamma shape movement strided_slice join gather search diagonal partition
        running scatter sorted space segment sparse sparse_segment sequence xla
        generator // since 2.6
        generator_state // since 2.6
        rows // since 2.6
        slices // since 2.6
        steps // since 2.6
        training // since 2.6
        sparse_training // since 2.6
        variable // since 2.6
    }
    table.extend(kernels![variant::zeros_like, variant::add_n]); // since 2.10
    elementwise::state_fused_uses(&table, Function::of_op);
    known_shapes::state(&table);
    table
}

/// Imports of all kernel files.
mod prelude {
    pub(super) use super::{check_scalar, coefficient, list, read_index, read_scalar};
    pub(super) use crate::compute::arith::{self, Float, Number};
    pub(super) use crate::compute::cast::Cast;
    pub(super) use crate::compute::error::{Dims, listed};
    pub(super) use crate::compute::machine::inline::InlineList;
    pub(super) use crate::compute::{Cost, Precision, cost, len};
    pub(super) use sp_plugin::kernel::{
        AnyIn, AttributeValue, Attributes, BytesIn, BytesOut, HostIn, HostInt32, HostOut, In,
        InList, Integer as Index, Out, Prepare, kernel,
    };
    pub(super) use sp_plugin::{
        Bf16, Bool, Complex64, Complex128, Element, Error, F16, Result, allocation,
    };
}

/// Copies the elements of an argument: up to eight without an allocation.
fn list(values: &HostIn<'_, Integer>) -> InlineList<i64> {
    let mut list = InlineList::new(0);
    values.iter().for_each(|value| list.push(value));
    list
}

/// Returns the value of an argument.
///
/// # Errors
/// Returns an error if it is no scalar.
fn read_scalar<T: Element>(name: &str, input: &HostIn<'_, T>) -> Result<T> {
    check_scalar(name, input.dims())?;
    input.scalar()
}

/// Returns a coefficient, which is in the device's memory, in the precision in which kernels compute.
///
/// # Errors
/// Returns an error if it is no scalar.
fn coefficient<T: Element + compute::Precision>(
    name: &str,
    input: &In<'_, T>,
) -> Result<T::Compute> {
    check_scalar(name, input.dims())?;
    Ok(input.scalar()?.to_compute())
}

/// Returns the element of a scalar of either integer type.
///
/// # Errors
/// Returns an error if it is no scalar.
fn read_index(name: &str, input: &HostIn<'_, Integer>) -> Result<i64> {
    check_scalar(name, input.dims())?;
    input.scalar()
}

/// Checks that an argument is a scalar.
///
/// # Errors
/// Returns an error if it has dims.
fn check_scalar(name: &str, dims: &[usize]) -> Result<()> {
    match dims {
        [] => Ok(()),
        dims => invalid!("{name} is not a scalar: {}", compute::error::Dims(dims)),
    }
}

impl From<compute::Error> for Error {
    fn from(error: compute::Error) -> Self {
        Self::invalid_argument(error.to_string())
    }
}
