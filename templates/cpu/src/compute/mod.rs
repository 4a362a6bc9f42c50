//! Kernels as functions over slices and shapes, independent of TensorFlow: no tensors, no status, no dtype codes.
//!
//! A new elementwise op is one function on scalars, and a row of the table in `elementwise`; a new reduction is one
//! [`reduce::Fold`]. Those run on all cores and with the machine's widest vectors. Tensors are
//! row-major and contiguous; dims count elements, outermost first; an empty `dims` is a scalar. Results never depend on
//! the number of cores.
//!
//! Modules are in four folders. A folder uses itself and those above it:
//!
//! | folder | content |
//! |---|---|
//! | `machine` | vectors, threads, costs, memory and shapes, on which all loops depend |
//! | `scalar` | functions of one element |
//! | `loops` | loops over tensors for any function: maps, folds, conversions, searches, rows |
//! | `ops` | ops and families of ops that are more than a loop and a function |
//!
//! `unsafe` code is confined to `array`, `cast`, `complex`, `matmul`, `parallel`, `precision`, `simd`, `workspace` and the tests,
//! as the lint below checks. [`bessel`], [`elementary`] and [`special`] declare functions of the C library that
//! are safe to call.

#![deny(unsafe_code)]

mod loops;
pub(crate) mod machine;
pub(crate) mod ops;
mod scalar;

pub use loops::{cast, fold, map, precision, reduce, rows, search, strided};
pub use machine::{cost, error, interleave, parallel, shape, simd, workspace};
pub use ops::{
    bins, checks, complex, division, einsum, fingerprint, fourier, image, inplace, matmul,
    movement, multinomial, nn, quantize, random, scatter_nd, segment, sparse, steps, training,
    values,
};
pub use scalar::{
    arith, bessel, bits, elementary, hyperbolic, incomplete, integrals, relation, special,
};

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
