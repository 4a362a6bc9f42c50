//! A position in a queue of the reference device.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use sp_plugin::Result;
use sp_plugin::accelerator::Fence;

/// The completion of the commands before the fence. Unlike a `Condvar` it needs no system call if nobody waits.
#[derive(Debug, Default)]
pub struct WorkFence(OnceLock<Completion>);

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
        self.0.get_or_init(|| Completion { result, time });
    }
}

impl Fence for WorkFence {
    fn is_complete(&self) -> Result<bool> {
        match self.0.get() {
            Some(completion) => completion.result.clone().map(|()| true),
            None => Ok(false),
        }
    }

    fn timestamp(&self) -> Option<Duration> {
        self.0.get().map(|it| it.time)
    }

    fn wait(&self) -> Result<()> {
        self.0.wait().result.clone()
    }
}
