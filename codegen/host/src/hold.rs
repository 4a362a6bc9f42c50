//! A stream that a callback of the host holds: work behind the callback must not run before it returns.
//!
//! Time only bounds how long a call of the plugin may wait for the held stream: then the callback returns by itself.

use std::ffi::c_void;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::Error;
use crate::executor::{Executor, StreamHandle};
use crate::leak_exempt::leak_exempt;

/// A held stream. Dropping it releases the stream.
pub(crate) struct StreamHold(&'static HoldState);

/// The state of the callback, which the plugin may call after the value is dropped.
struct HoldState {
    progress: Mutex<Progress>,
    changed: Condvar,
    /// The time that a call of the plugin may take while the stream is held.
    patience: Duration,
}

struct Progress {
    phase: Phase,
    /// The thread that enqueues the callback, for the time of that call.
    enqueuing: Option<ThreadId>,
    /// The time of the last call of the plugin.
    last_call: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The callback has not returned, and will not before a later phase.
    Held,
    /// The callback ran in the call that enqueued it.
    Inline,
    /// A call of the plugin waited for the callback.
    Expired,
    /// The check let the callback return.
    Released,
}

impl HoldState {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits in the callback.
    fn wait(&self) {
        let mut progress = self.lock();
        if progress.enqueuing == Some(thread::current().id()) {
            progress.phase = Phase::Inline;
        }
        while progress.phase == Phase::Held {
            let left = self.patience.saturating_sub(progress.last_call.elapsed());
            if left.is_zero() {
                progress.phase = Phase::Expired;
                break;
            }
            let waited = self.changed.wait_timeout(progress, left);
            progress = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

unsafe extern "C" fn hold(argument: *mut c_void, _status: *mut c_void) {
    // SAFETY: `StreamHold::on` enqueued this function with a leak-exempt `HoldState`.
    unsafe { &*argument.cast::<HoldState>() }.wait();
}

impl StreamHold {
    /// Enqueues the callback on an idle stream. Returns the reason if the device cannot hold a stream.
    pub fn on(
        executor: &Executor,
        stream: StreamHandle,
        patience: Duration,
    ) -> Result<Result<Self, &'static str>, Error> {
        let state = leak_exempt(HoldState {
            progress: Mutex::new(Progress {
                phase: Phase::Held,
                enqueuing: Some(thread::current().id()),
                last_call: Instant::now(),
            }),
            changed: Condvar::new(),
            patience,
        });
        let argument = std::ptr::from_ref(state).cast_mut().cast();
        // SAFETY: the argument is a leak-exempt `HoldState`, which `hold` reads.
        let is_taken = unsafe { executor.host_callback(stream, hold, argument) }?;
        let mut progress = state.lock();
        progress.enqueuing = None;
        let reason = match (is_taken, progress.phase) {
            (true, Phase::Held) => {
                drop(progress);
                return Ok(Ok(Self(state)));
            }
            (false, _) => "host_callback returned false: see host_callbacks",
            (_, Phase::Inline) => {
                "the device runs work in the call that enqueues it: a host callback ran before host_callback returned"
            }
            _ => {
                "host_callback returned only after its callback, so no work can be enqueued behind one"
            }
        };
        progress.phase = Phase::Released;
        Ok(Err(reason))
    }

    /// Returns true until the callback may have returned.
    pub fn is_held(&self) -> bool {
        self.0.lock().phase == Phase::Held
    }

    /// States that a call of the plugin begins.
    pub fn start_patience(&self) {
        self.0.lock().last_call = Instant::now();
    }

    /// Lets the callback return.
    pub fn release(&self) {
        let mut progress = self.0.lock();
        if progress.phase == Phase::Held {
            progress.phase = Phase::Released;
        }
        self.0.changed.notify_all();
    }
}

impl Drop for StreamHold {
    fn drop(&mut self) {
        self.release();
    }
}
