//! Callbacks of TensorFlow and kernels on the host, which run on a thread of the driver. No function of the driver may be called there.
//!
//! A driver's threads run on while the C library destroys the statics that such a function uses, so none runs after the exit.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

thread_local! {
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Longest time for which the exit of the process waits for functions that run.
const EXIT_LIMIT: Duration = Duration::from_secs(10);

static GATE: Gate = Gate::new();

struct Gate {
    is_closed: AtomicBool,
    /// A function holds it for reading.
    running: RwLock<()>,
}

impl Gate {
    const fn new() -> Self {
        Self {
            is_closed: AtomicBool::new(false),
            running: RwLock::new(()),
        }
    }

    fn run(&self, callback: impl FnOnce()) {
        let nested = IS_RUNNING.replace(true);
        let running =
            (!nested).then(|| self.running.read().unwrap_or_else(PoisonError::into_inner));
        match !nested && self.is_closed.load(Ordering::SeqCst) {
            true => drop(callback),
            false => callback(),
        }
        drop(running);
        IS_RUNNING.set(nested);
    }

    /// Lets no function begin any more, and waits for those of other threads that run.
    fn close(&self, limit: Duration) {
        self.is_closed.store(true, Ordering::SeqCst);
        let start = Instant::now();
        while !IS_RUNNING.get() && start.elapsed() < limit {
            match self.running.try_write() {
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
                _ => return,
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
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn exit_waits_for_running_function_and_drops_later_ones() {
        let (gate, count) = (Gate::new(), AtomicUsize::new(0));
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
    fn exit_ends_while_threads_run_functions_all_the_time() {
        let (gate, count) = (Gate::new(), AtomicUsize::new(0));
        let call = || gate.run(|| _ = count.fetch_add(1, Ordering::Relaxed));
        thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(|| (0..100_000).for_each(|_| call())));
            gate.close(Duration::MAX);
            let closed = count.load(Ordering::Relaxed);
            threads.into_iter().for_each(|it| it.join().unwrap());
            assert_eq!(count.load(Ordering::Relaxed), closed);
        });
    }

    #[test]
    fn exit_in_a_function_does_not_wait_for_it() {
        let (gate, mut is_run) = (Gate::new(), false);
        gate.run(|| {
            gate.close(Duration::MAX);
            gate.run(|| is_run = true);
        });
        assert!(is_run);
    }

    #[test]
    fn later_function_is_dropped_as_one_that_runs() {
        struct Dropped;
        impl Drop for Dropped {
            fn drop(&mut self) {
                assert!(is_running());
            }
        }
        let (gate, owned) = (Gate::new(), Dropped);
        gate.close(Duration::MAX);
        gate.run(move || drop(owned));
    }
}
