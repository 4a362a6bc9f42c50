//! Memory that lives until its stream is synchronized.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Result;

/// Use counts of memory that a queue that takes no functions may still use.
#[derive(Default)]
pub(super) struct Retained(Mutex<Vec<Arc<()>>>);

impl Retained {
    /// Adds the use count of memory.
    pub fn push(&self, use_count: Arc<()>) {
        self.lock().push(use_count);
    }

    /// Returns true if there is no such memory.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Waits for the present commands, and then releases the present memory.
    ///
    /// # Errors
    /// Returns the error of `wait`.
    pub fn release_after(&self, wait: impl FnOnce() -> Result<()>) -> Result<()> {
        let present = mem::take(&mut *self.lock());
        wait().inspect_err(|_| self.lock().extend(present))
    }

    /// Leaks the memory.
    pub fn leak(&self) {
        mem::forget(mem::take(&mut *self.lock()));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
