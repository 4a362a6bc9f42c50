//! The host memory of work that has not completed.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory of pending work, which is counted.
pub(super) struct PendingMemory {
    _memory: Arc<dyn Any + Send + Sync>,
    bytes: usize,
    pending: Arc<AtomicUsize>,
}

impl PendingMemory {
    /// Counts the memory until the value is dropped.
    pub fn new(
        memory: Arc<dyn Any + Send + Sync>,
        bytes: usize,
        pending: &Arc<AtomicUsize>,
    ) -> Self {
        pending.fetch_add(bytes, Ordering::Relaxed);
        Self {
            _memory: memory,
            bytes,
            pending: pending.clone(),
        }
    }
}

impl Drop for PendingMemory {
    fn drop(&mut self) {
        self.pending.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
