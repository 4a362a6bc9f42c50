//! The reference backend: a CPU device and SIMD kernels.
//!
//! `compute` has functions over slices, independent of TensorFlow. `kernels` registers them for ops, one
//! file for each op. `device` implements the slots of the C API on this machine's CPU.

// `print!` and `eprint!` panic if the stream cannot be written; `report!` does not.
#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

pub mod compute;
mod device;
// The unit tests are of `compute` and `device`; they would compile the kernels a second time, which takes minutes.
#[cfg(not(test))]
pub mod kernels;

pub use device::{CpuDevice, Event, Memory, Stream, Timer};
