//! A mark in a stream. Since a stream's work is done when it is enqueued, so is every mark.

use std::sync::atomic::{AtomicU64, Ordering};

/// An event of the reference device.
// Not a unit struct: TensorFlow tells events apart by their addresses.
#[derive(Debug, Default)]
pub struct Event {
    recorded: AtomicU64,
}

impl Event {
    /// Marks the stream's present end.
    pub fn record(&self) {
        self.recorded.fetch_add(1, Ordering::Release);
    }
}
