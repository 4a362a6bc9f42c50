//! Threads that run a callback of TensorFlow, where no function of the driver may be called.

use std::cell::Cell;

thread_local! {
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Returns true on a thread that runs a callback.
pub(super) fn is_running() -> bool {
    IS_RUNNING.get()
}

/// Runs a callback, which does not panic.
pub(super) fn run(callback: impl FnOnce()) {
    let nested = IS_RUNNING.replace(true);
    callback();
    IS_RUNNING.set(nested);
}
