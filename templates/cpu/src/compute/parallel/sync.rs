//! The synchronisation primitives of [`pool`](super::pool). `tests/loom` compiles that file with a module of this name
//! that has loom's types instead.

pub use std::hint::spin_loop;
pub use std::sync::atomic::{AtomicUsize, Ordering};
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub use std::thread::{Thread, current, park};

/// How often a thread looks again before it sleeps: some 10 microseconds.
pub const SPINS: usize = 200;
