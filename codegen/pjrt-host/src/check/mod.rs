//! The checks: one function each, and each runs in a process of its own.

mod api;
mod attribute;
mod buffer;
mod buffer_copy;
mod buffer_life;
mod client;
mod compile;
mod device;
mod error;
mod event;
mod executable;
mod execution;
mod host_copy;
mod lifetime;
mod list;
mod memory_space;
mod struct_size;
mod topology;
mod transfer;

pub use list::{CHECKS, PjrtCheck};

/// The id of the check that creates a client.
pub(crate) const CLIENT_CHECK: &str = "pjrt_client";

/// The id of the check that ends its process with the destructors of the plugin.
pub(crate) const EXIT_CHECK: &str = "pjrt_process_exit";
