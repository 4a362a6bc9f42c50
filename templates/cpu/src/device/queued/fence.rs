//! A position in a queue of the reference device.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use sp_plugin::Result;
use sp_plugin::accelerator::Fence;

/// The result of the commands before the fence, once they have completed.
#[derive(Debug, Default)]
pub struct WorkFence {
    result: Mutex<Option<Result<()>>>,
    completed: Condvar,
}

impl WorkFence {
    /// Completes the fence.
    pub(super) fn complete(&self, result: Result<()>) {
        *self.lock() = Some(result);
        self.completed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Result<()>>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fence for WorkFence {
    fn is_complete(&self) -> Result<bool> {
        match &*self.lock() {
            Some(result) => result.clone().map(|()| true),
            None => Ok(false),
        }
    }

    fn wait(&self) -> Result<()> {
        let is_pending = |result: &mut Option<Result<()>>| result.is_none();
        let result = self.completed.wait_while(self.lock(), is_pending);
        let result = result.unwrap_or_else(PoisonError::into_inner);
        result.clone().unwrap_or(Ok(()))
    }
}
