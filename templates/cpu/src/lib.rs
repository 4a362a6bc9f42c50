//! The reference backend: a CPU device and SIMD kernels.
//!
//! `compute` is plain functions over slices and knows nothing of TensorFlow; `kernels` ties each to
//! an op, one short file each; `device` is this machine's CPU behind the slots of the C API.

// A print panics if its stream cannot be written: `report!` does not.
#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

pub mod compute;
mod device;
pub mod kernels;

pub use device::{CpuDevice, Event, Memory, Stream, Timer, Usage};
