//! Neural-network kernels: bias, rectified linear unit, sparse softmax cross entropy.

pub mod bias;
pub mod relu;
pub mod xent;
