//! Functions of one element.

pub(crate) mod approximation;
pub(crate) mod approximation64;
pub(crate) mod arc;
pub mod arith;
pub mod bessel;
pub mod bits;
pub mod elementary;
pub mod hyperbolic;
pub mod incomplete;
pub mod integrals;
pub mod relation;
pub mod special;
pub(crate) mod trigonometric;
