//! When the plugin's kernels ran, for a profiler to tell.
//!
//! Nothing is recorded until [`start`]; until then a kernel's call pays one load for it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// More than this many are not kept: what forgets to stop shall not take all memory.
const MOST: usize = 1 << 20;

/// One call of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The op and its types.
    pub kernel: &'static str,
    /// The number of the device.
    pub device: u32,
    /// The thread that TensorFlow called on, numbered from 1 in the order of their first calls.
    pub thread: u64,
    /// When the kernel was called.
    pub start: SystemTime,
    /// How long until it returned; a kernel that enqueues has only enqueued by then.
    pub length: Duration,
}

static ON: AtomicBool = AtomicBool::new(false);
static CALLS: Mutex<Vec<Call>> = Mutex::new(Vec::new());

fn calls() -> MutexGuard<'static, Vec<Call>> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets what was recorded, and begins to record.
pub fn start() {
    calls().clear();
    ON.store(true, Ordering::Relaxed);
}

/// Ends recording. A call that is under way is recorded when it returns.
pub fn stop() {
    ON.store(false, Ordering::Relaxed);
}

/// Takes what was recorded, in the order of the calls' ends.
pub fn take() -> Vec<Call> {
    std::mem::take(&mut *calls())
}

/// A call under way, if calls are recorded.
pub(crate) struct UnderWay {
    wall: SystemTime,
    begun: Instant,
}

/// A kernel is called.
pub(crate) fn begin() -> Option<UnderWay> {
    ON.load(Ordering::Relaxed).then(|| UnderWay {
        wall: SystemTime::now(),
        begun: Instant::now(),
    })
}

impl UnderWay {
    /// The kernel has returned.
    pub fn end(self, kernel: &'static str, device: u32) {
        let call = Call {
            kernel,
            device,
            thread: thread(),
            start: self.wall,
            length: self.begun.elapsed(),
        };
        let mut calls = calls();
        if calls.len() == MOST {
            return;
        }
        calls.push(call);
        if calls.len() == MOST {
            sp_runtime::report!(
                Warn,
                "a trace holds {MOST} calls of kernels; later ones are left out"
            );
        }
    }
}

/// A small number for the thread.
fn thread() -> u64 {
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
    fn what_runs_between_start_and_stop_is_recorded() {
        assert!(begin().is_none());
        start();
        let first = begin().unwrap();
        first.end("Relu", 0);
        let other = std::thread::spawn(|| begin().unwrap().end("MatMul", 1));
        other.join().unwrap();
        stop();
        assert!(begin().is_none());
        let calls = take();
        let seen: Vec<_> = calls.iter().map(|it| (it.kernel, it.device)).collect();
        assert_eq!(seen, [("Relu", 0), ("MatMul", 1)]);
        assert_ne!(calls[0].thread, calls[1].thread);
        assert_eq!(take(), []);
    }
}
