//! Lets one captured kernel run at a time.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Time after which a kernel runs beside another one, which may wait for it.
const LIMIT: Duration = Duration::from_secs(10);

static IS_CLOSED: Mutex<bool> = Mutex::new(false);
static OPENED: Condvar = Condvar::new();

/// Waits until no other kernel runs, and closes the gate. Returns false after [`LIMIT`]; then the gate is not this kernel's.
pub fn close() -> bool {
    let closed = IS_CLOSED.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = OPENED.wait_timeout_while(closed, LIMIT, |is_closed| *is_closed);
    let (mut closed, result) = waited.unwrap_or_else(PoisonError::into_inner);
    if result.timed_out() && *closed {
        return false;
    }
    *closed = true;
    true
}

/// Opens the gate.
pub fn open() {
    *IS_CLOSED.lock().unwrap_or_else(PoisonError::into_inner) = false;
    OPENED.notify_one();
}
