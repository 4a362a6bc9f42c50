//! The skeletons of kernels and ops in C++ sources, as JSON.

pub mod json;
