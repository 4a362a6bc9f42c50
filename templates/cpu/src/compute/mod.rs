//! Kernels as functions over slices and shapes, independent of TensorFlow: no tensors, no status, no dtype codes.
//!
//! A new elementwise op is one function on scalars, and a row of the table in `elementwise`; a new reduction is one
//! [`reduce::Fold`]. Those run on all cores and with the machine's widest vectors. Tensors are
//! row-major and contiguous; dims count elements, outermost first; an empty `dims` is a scalar. Results never depend on
//! the number of cores.
//!
//! `unsafe` code is confined to `array`, `cast`, `complex`, `matmul`, `parallel`, `precision`, `simd`, `workspace` and the tests,
//! as the lint below checks. [`bessel`], [`elementary`] and [`special`] declare functions of the C library that
//! are safe to call.

#![deny(unsafe_code)]

pub(crate) mod approximation;
pub(crate) mod approximation64;
pub(crate) mod arc;
pub mod arith;
#[allow(unsafe_code)]
pub(crate) mod array;
pub mod bessel;
pub mod bins;
pub mod bits;
#[allow(unsafe_code)]
pub mod cast;
pub mod checks;
#[allow(unsafe_code)]
pub mod complex;
pub(crate) mod constant;
pub mod cost;
pub mod division;
pub mod einsum;
pub mod elementary;
pub(crate) mod elementwise;
pub mod error;
pub mod fingerprint;
pub mod fold;
pub mod fourier;
pub mod hyperbolic;
pub mod image;
pub mod incomplete;
pub(crate) mod inline;
pub mod inplace;
pub mod integrals;
pub mod interleave;
pub mod map;
#[allow(unsafe_code)]
pub mod matmul;
pub mod movement;
pub mod multinomial;
pub mod nn;
pub(crate) mod operand;
#[allow(unsafe_code)]
pub mod parallel;
#[allow(unsafe_code)]
pub mod precision;
pub mod quantize;
pub mod random;
pub mod reduce;
pub mod relation;
pub mod rows;
pub(crate) mod runs;
pub mod scatter_nd;
pub mod search;
pub mod segment;
pub mod shape;
#[allow(unsafe_code)]
pub mod simd;
pub mod sparse;
pub mod special;
pub mod steps;
pub mod strided;
pub mod training;
pub(crate) mod trigonometric;
pub mod values;
#[allow(unsafe_code)]
pub mod workspace;

#[cfg(test)]
mod oracle;
#[cfg(test)]
#[allow(unsafe_code)]
mod tests;

pub use cost::Cost;
pub use error::{Error, Result};
pub use precision::Precision;
pub use shape::{Broadcast, len};
pub use simd::Isa;
