//! `libvirtaccel.so`: the driver of a virtual accelerator, with the C API of `virtaccel.h`.
//!
//! `api` has the exported functions. `memory` maps each allocation twice: without access at the address that the caller
//! sees, with access for the driver. `queue` runs work on threads, `kernels` computes with sp-cpu, `fault` plans failures.

#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

mod abi;
mod access;
mod api;
mod device;
mod fault;
mod fence;
mod host_memory;
mod kernels;
mod memory;
mod queue;
mod registry;
mod settings;

pub use abi::Status;
