//! Fences.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::abi::{Result, Status};
use crate::device::clock;
use crate::queue::Failure;

/// A fence. Records are counted, so that a wait refers to one of them.
#[derive(Default)]
pub struct Fence {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    recorded: u64,
    completed: u64,
    /// The error of the queue at the last completion.
    failure: Option<Failure>,
    /// The clock at the last completion.
    time: u64,
}

/// Interval in which a waiting thread checks whether it has to stop.
const POLL: Duration = Duration::from_millis(5);

impl Fence {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of a new record.
    pub fn record(&self) -> u64 {
        let mut state = self.lock();
        state.recorded += 1;
        state.recorded
    }

    /// Returns the number of the last record.
    pub fn last_record(&self) -> u64 {
        self.lock().recorded
    }

    /// Completes a record and those before it, with the error of its queue.
    pub fn complete(&self, record: u64, failure: Option<Failure>) {
        let mut state = self.lock();
        state.completed = state.completed.max(record);
        state.failure = failure;
        state.time = clock();
        self.changed.notify_all();
    }

    /// Returns true if the last record is complete.
    pub fn is_complete(&self) -> bool {
        let state = self.lock();
        state.completed >= state.recorded
    }

    /// Returns the clock at the completion of the last record.
    pub fn time(&self) -> Result<u64> {
        let state = self.lock();
        match state.completed {
            0 => Err(Status::INVALID_VALUE),
            completed if completed < state.recorded => Err(Status::NOT_READY),
            _ => Ok(state.time),
        }
    }

    /// Returns the error of the queue at the completion of a record, if no later record is complete.
    pub fn failure(&self, record: u64) -> Option<Failure> {
        let state = self.lock();
        let is_last = state.completed == record;
        state.failure.clone().filter(|_| is_last)
    }

    /// Returns the error of the queue at the last completion.
    pub fn last_failure(&self) -> Option<Failure> {
        self.lock().failure.clone()
    }

    /// Waits until a record is complete, or `stops` returns true. Returns true if it is complete.
    pub fn wait(&self, record: u64, stops: impl Fn() -> bool) -> bool {
        let mut state = self.lock();
        while state.completed < record && !stops() {
            let waited = self.changed.wait_timeout(state, POLL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.completed >= record
    }
}
