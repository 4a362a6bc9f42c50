//! Statistics of a device's memory.

use std::sync::{Mutex, PoisonError};

/// Statistics, in bytes except for `allocations`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Number of allocations so far.
    pub allocations: u64,
    /// Size of all live allocations.
    pub in_use: u64,
    /// The largest `in_use` so far.
    pub peak: u64,
    /// Size of the largest allocation so far.
    pub largest: u64,
}

#[derive(Debug, Default)]
pub(super) struct Statistics(Mutex<Usage>);

impl Statistics {
    pub fn add(&self, bytes: usize) {
        let mut usage = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        usage.allocations += 1;
        usage.in_use += bytes as u64;
        usage.peak = usage.peak.max(usage.in_use);
        usage.largest = usage.largest.max(bytes as u64);
    }

    pub fn remove(&self, bytes: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).in_use -= bytes as u64;
    }

    pub fn usage(&self) -> Usage {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
