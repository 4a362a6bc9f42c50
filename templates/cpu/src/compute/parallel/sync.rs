//! The synchronization primitives of [`pool`](super::pool). `tests/loom` replaces this module by one with loom's types.

pub use std::sync::atomic::{AtomicUsize, Ordering};
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub use std::thread::{Thread, current, park};

/// The number of checks in sequence before a thread lets others run between its checks: about 5 microseconds.
const SPINS: usize = 200;
/// The number of further checks before a thread sleeps: about 80 microseconds if no other thread runs meanwhile. Waking a
/// thread takes 5 to 20 microseconds, and most kernels of a small model less.
const YIELDS: usize = 200;

/// Pauses before the next check. Returns false without a pause if the thread should sleep after this number of checks.
pub fn pause(checks: usize) -> bool {
    match checks {
        ..SPINS => std::hint::spin_loop(),
        _ if checks < SPINS + YIELDS => std::thread::yield_now(),
        _ => return false,
    }
    true
}
