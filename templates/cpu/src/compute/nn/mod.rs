//! Neural-network kernels: bias, rectified linear unit, sparse softmax cross entropy.

pub mod bias;
pub mod cross_entropy;
pub mod relu;
