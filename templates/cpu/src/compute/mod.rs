//! Kernels as functions over slices and shapes, independent of TensorFlow: no tensors, no status, no dtype codes.
//!
//! A new elementwise kernel is one function on scalars in [`arith`], passed to [`map::map1`] or [`map::map2`]; a new reduction is one
//! [`reduce::Fold`]. Those run on all cores and with the machine's widest vectors. Tensors are row-major and contiguous; dims
//! count elements, outermost first; an empty `dims` is a scalar. Results never depend on the number of cores.
//! `unsafe` is confined to `simd`, `parallel` and `matmul`.

pub mod arith;
pub mod cast;
pub mod error;
pub mod half;
mod inline;
pub mod map;
pub mod matmul;
pub mod nn;
pub mod parallel;
pub mod reduce;
pub mod shape;
pub mod simd;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

pub use error::{Error, Result};
pub use parallel::Cost;
pub use shape::{Broadcast, len};
pub use simd::Isa;
