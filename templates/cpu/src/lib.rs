//! The reference backend: a CPU device and SIMD kernels.
