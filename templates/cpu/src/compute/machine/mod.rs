//! Vectors, threads, costs, memory and shapes, on which all loops depend. No module computes a value of an op.

#[allow(unsafe_code)]
pub(crate) mod array;
pub(crate) mod constant;
pub mod cost;
pub mod error;
pub(crate) mod inline;
pub mod interleave;
#[allow(unsafe_code)]
pub mod parallel;
pub(crate) mod runs;
pub mod shape;
#[allow(unsafe_code)]
pub mod simd;
#[allow(unsafe_code)]
pub mod workspace;
