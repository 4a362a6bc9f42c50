//! Ops and families of ops that are more than a loop and a function.

pub mod bins;
pub mod checks;
#[allow(unsafe_code)]
pub mod complex;
pub mod division;
pub mod einsum;
pub(crate) mod elementwise;
pub mod fingerprint;
pub mod fourier;
pub mod image;
pub mod inplace;
#[allow(unsafe_code)]
pub mod matmul;
pub mod movement;
pub mod multinomial;
pub mod nn;
pub mod quantize;
pub mod random;
pub mod scatter_nd;
pub mod segment;
pub mod sparse;
pub mod steps;
pub mod training;
pub mod values;
