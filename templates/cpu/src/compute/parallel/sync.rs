//! The synchronization primitives of [`pool`](super::pool). `tests/loom` replaces this module by one with loom's types.

pub use std::hint::spin_loop;
pub use std::sync::atomic::{AtomicUsize, Ordering};
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub use std::thread::{Thread, current, park};

/// The number of checks before a thread waits: about 10 microseconds.
pub const SPINS: usize = 200;
