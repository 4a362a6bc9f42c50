//! Rust plugins for TensorFlow, from its own C headers.
