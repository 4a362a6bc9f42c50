//! A recorder of kernel calls, for profilers.
//!
//! Recording is off until [`start`]; until then it costs a kernel's call one atomic load.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Limit for the number of recorded calls, so that a session that is never stopped does not use all memory.
const MAX_CALLS: usize = 1 << 20;

/// A recorded call of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelCall {
    /// The op and its types.
    pub kernel: &'static str,
    /// The ordinal of the device.
    pub device: u32,
    /// The thread that TensorFlow called on, numbered from 1 in the order of their first calls.
    pub thread: u64,
    /// Time of the call.
    pub start: SystemTime,
    /// Time until the kernel returned. A kernel that enqueues work has only enqueued it by then.
    pub duration: Duration,
}

static ON: AtomicBool = AtomicBool::new(false);
static CALLS: Mutex<Vec<KernelCall>> = Mutex::new(Vec::new());

fn calls() -> MutexGuard<'static, Vec<KernelCall>> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Discards the recorded calls and starts recording.
pub fn start() {
    calls().clear();
    ON.store(true, Ordering::Relaxed);
}

/// Stops recording. A call that is in progress is still recorded when it returns.
pub fn stop() {
    ON.store(false, Ordering::Relaxed);
}

/// Removes and returns the recorded calls, in the order in which they returned.
pub fn take_calls() -> Vec<KernelCall> {
    std::mem::take(&mut *calls())
}

/// A call in progress that will be recorded.
pub(crate) struct ActiveCall {
    start: SystemTime,
    timer: Instant,
}

/// Starts the record of a call, or returns `None` if recording is off.
#[inline]
pub(crate) fn begin() -> Option<ActiveCall> {
    ON.load(Ordering::Relaxed).then(|| ActiveCall {
        start: SystemTime::now(),
        timer: Instant::now(),
    })
}

impl ActiveCall {
    /// Records the call: its kernel has returned.
    pub fn record(self, kernel: &'static str, device: u32) {
        let call = KernelCall {
            kernel,
            device,
            thread: thread_number(),
            start: self.start,
            duration: self.timer.elapsed(),
        };
        let mut calls = calls();
        if calls.len() == MAX_CALLS {
            return;
        }
        calls.push(call);
        if calls.len() == MAX_CALLS {
            sp_runtime::report!(
                Warn,
                "the trace has reached its limit of {MAX_CALLS} kernel calls; later calls are not recorded: profile fewer steps"
            );
        }
    }
}

/// Returns the number of this thread, in the order of the threads' first calls.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static THIS: Cell<u64> = const { Cell::new(0) });
    THIS.with(|this| {
        if this.get() == 0 {
            this.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        this.get()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_calls_between_start_and_stop() {
        assert!(begin().is_none());
        start();
        let first = begin().unwrap();
        first.record("Relu", 0);
        let other = std::thread::spawn(|| begin().unwrap().record("MatMul", 1));
        other.join().unwrap();
        stop();
        assert!(begin().is_none());
        let calls = take_calls();
        let recorded: Vec<_> = calls.iter().map(|it| (it.kernel, it.device)).collect();
        assert_eq!(recorded, [("Relu", 0), ("MatMul", 1)]);
        assert_ne!(calls[0].thread, calls[1].thread);
        assert_eq!(take_calls(), []);
    }
}
