//! The synchronization primitives of [`pool`](super::pool). `tests/loom` replaces this module by one with loom's types.

pub use std::sync::atomic::{AtomicUsize, Ordering};
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub use std::thread::{Thread, current, park};

/// The number of checks in sequence before a thread lets others run between its checks: about 5 microseconds.
const SPINS: usize = 200;
/// The number of further checks before a thread sleeps: 200 to 400 microseconds if no other thread runs meanwhile. The
/// caller spends up to 17 microseconds on waking a thread, more than on most kernels of a small model, and such a model
/// has tens of microseconds between two kernels that use several threads.
const YIELDS: usize = 1000;

/// Pauses before the next check. Returns false without a pause if the thread should sleep after this number of checks.
pub fn pause(checks: usize) -> bool {
    match checks {
        ..SPINS => std::hint::spin_loop(),
        _ if checks < SPINS + YIELDS => std::thread::yield_now(),
        _ => return false,
    }
    true
}
