//! A position in a queue of the reference device.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use sp_plugin::Result;
use sp_plugin::accelerator::Fence;

/// The result of the commands before the fence, once they have completed.
#[derive(Debug, Default)]
pub struct WorkFence {
    result: Mutex<Option<Completion>>,
    completed: Condvar,
}

/// The completion of a fence.
#[derive(Debug)]
struct Completion {
    result: Result<()>,
    time: Duration,
}

/// Returns the clock of the threads of all queues: the time since its first use.
fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

impl WorkFence {
    /// Completes the fence.
    pub(super) fn complete(&self, result: Result<()>) {
        let time = clock();
        *self.lock() = Some(Completion { result, time });
        self.completed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Completion>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fence for WorkFence {
    fn is_complete(&self) -> Result<bool> {
        match &*self.lock() {
            Some(completion) => completion.result.clone().map(|()| true),
            None => Ok(false),
        }
    }

    fn timestamp(&self) -> Option<Duration> {
        self.lock().as_ref().map(|it| it.time)
    }

    fn wait(&self) -> Result<()> {
        let is_pending = |result: &mut Option<Completion>| result.is_none();
        let result = self.completed.wait_while(self.lock(), is_pending);
        let result = result.unwrap_or_else(PoisonError::into_inner);
        let result = result.as_ref().map(|it| it.result.clone());
        result.unwrap_or(Ok(()))
    }
}
