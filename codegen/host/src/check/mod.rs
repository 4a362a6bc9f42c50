//! The checks: one function each, and each runs in a process of its own.
//!
//! A check of enqueued work (`asynchronous`) decides by what it sees while a stream is held, never by time: a slow
//! machine gives no failure.

mod asynchronous;
mod copy;
mod field_access;
mod graph;
mod kernel;
mod lifetime;
mod list;
mod load;
mod memory;
mod memory_statistics;
mod op;
mod partial_copy;
mod profiler;
mod profiler_limits;
mod profiler_session;
mod profiler_threads;
mod release_contract;
mod session;
mod stream;
mod unified_memory;

pub use lifetime::expect_no_growth;

pub(crate) use field_access::{FIELD_ACCESS, breaches_failure};
pub use list::{CHECKS, Check};
pub(crate) use release_contract::RELEASE_CONTRACT;

pub(crate) use session::CheckSession;

/// The id of the check that only loads the plugin.
pub(crate) const LOAD_CHECK: &str = "entry_points";

/// The id of the check that lists the registered kernels.
pub(crate) const KERNELS_CHECK: &str = "kernels_registered";

/// The id of the check that counts devices.
pub(crate) const DEVICES_CHECK: &str = "devices";
