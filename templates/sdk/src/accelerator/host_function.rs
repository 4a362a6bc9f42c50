//! Callbacks of TensorFlow and kernels on the host, which run on a thread of the driver. No function of the driver may be called there.
//!
//! A driver's threads run on while the C library destroys the statics that such a function uses, so none runs after the exit.

use std::cell::Cell;
use std::sync::{PoisonError, RwLock, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

thread_local! {
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Longest time for which the exit of the process waits for functions that run.
const EXIT_LIMIT: Duration = Duration::from_secs(10);

static GATE: Gate = Gate(RwLock::new(false));

/// True once no function may run. A function holds the lock for reading.
struct Gate(RwLock<bool>);

impl Gate {
    fn run(&self, callback: impl FnOnce()) {
        let nested = IS_RUNNING.replace(true);
        let is_closed = (!nested).then(|| self.0.read().unwrap_or_else(PoisonError::into_inner));
        if is_closed.as_deref() != Some(&true) {
            callback();
        }
        IS_RUNNING.set(nested);
    }

    /// Waits for functions that run, also for those whose thread is not the calling one, and runs none later.
    fn close(&self, limit: Duration) {
        let start = Instant::now();
        while !IS_RUNNING.get() && start.elapsed() < limit {
            match self.0.try_write() {
                Ok(mut is_closed) => return *is_closed = true,
                Err(TryLockError::Poisoned(error)) => return *error.into_inner() = true,
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

/// Returns true on a thread that runs a callback.
pub(super) fn is_running() -> bool {
    IS_RUNNING.get()
}

/// Runs a callback, which does not panic, unless the process exits: it is then dropped.
pub(super) fn run(callback: impl FnOnce()) {
    GATE.run(callback);
}

/// Waits for the functions that run, and drops later ones, since the process exits.
pub(super) fn close() {
    GATE.close(EXIT_LIMIT);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn exit_waits_for_running_function_and_drops_later_ones() {
        let (gate, count) = (Gate(RwLock::new(false)), AtomicUsize::new(0));
        let (started, is_started) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                gate.run(|| {
                    started.send(()).unwrap();
                    thread::sleep(Duration::from_millis(20));
                    count.fetch_add(1, Ordering::Relaxed);
                });
            });
            is_started.recv().unwrap();
            gate.close(Duration::MAX);
            assert_eq!(count.load(Ordering::Relaxed), 1);
        });
        gate.run(|| _ = count.fetch_add(1, Ordering::Relaxed));
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn exit_in_a_function_does_not_wait_for_it() {
        let (gate, mut is_run) = (Gate(RwLock::new(false)), false);
        gate.run(|| {
            gate.close(Duration::MAX);
            gate.run(|| is_run = true);
        });
        assert!(is_run);
    }
}
