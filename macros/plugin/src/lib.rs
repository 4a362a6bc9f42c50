//! A plugin in Rust: device, kernels, tensors, entry points.
