//! Counts of a queue's users, by which a stream knows that its commands have completed.

use std::sync::atomic::{AtomicU64, Ordering};

/// The users of a queue: kernels and copies, whose commands use device memory.
#[derive(Default)]
pub(super) struct Usage {
    /// Number of users that may enqueue commands at present: between `open` and `close`.
    open: AtomicU64,
    /// Number of users so far that enqueue no more, and of those whose commands are known to have completed.
    closed: AtomicU64,
    drained: AtomicU64,
}

impl Usage {
    /// Begins a use of the queue.
    pub fn open(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends a use of the queue. A synchronization that began earlier does not count for its commands.
    pub fn close(&self) {
        self.closed.fetch_add(1, Ordering::Release);
        // Who finds no open user also finds the number of closed ones.
        self.open.fetch_sub(1, Ordering::Release);
    }

    /// Returns the number of users that enqueue no more.
    pub fn closed(&self) -> u64 {
        self.closed.load(Ordering::Acquire)
    }

    /// Records that the commands of the first `closed` users have completed.
    pub fn record_drained(&self, closed: u64) {
        self.drained.fetch_max(closed, Ordering::Release);
    }

    /// Returns true if all commands that use device memory are known to have completed.
    pub fn is_idle(&self) -> bool {
        // In this order: a use that ends in between is open or not drained.
        self.open.load(Ordering::Acquire) == 0
            && self.drained.load(Ordering::Acquire) == self.closed()
    }
}
