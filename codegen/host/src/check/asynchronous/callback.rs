//! Host callbacks that record that they have run.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::StatusCode;
use crate::check::session::ensure;
use crate::executor::{Executor, StreamHandle};
use crate::host_bytes::HostBytes;
use crate::leak_exempt::leak_exempt;
use crate::objects;
use crate::outcome::Stop;
use crate::status_object::StatusObject;

/// The time limit of a callback.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A callback that was enqueued.
#[derive(Clone, Copy)]
pub(super) struct Callback(&'static CallbackState);

struct CallbackState {
    action: CallbackAction,
    has_run: AtomicBool,
    seen: Mutex<Vec<u8>>,
}

/// The work of a callback.
pub(super) enum CallbackAction {
    None,
    Pause(Duration),
    /// Reports an error.
    Fail,
    /// Copies the bytes that the host sees.
    Read(HostBytes),
}

unsafe extern "C" fn run(argument: *mut c_void, status: *mut c_void) {
    // SAFETY: `Callback::enqueue` enqueued this function with a leak-exempt `CallbackState`.
    let state = unsafe { &*argument.cast::<CallbackState>() };
    match state.action {
        CallbackAction::None => {}
        CallbackAction::Pause(pause) => thread::sleep(pause),
        CallbackAction::Fail => {
            objects::with_object(status.cast::<StatusObject>(), |status| {
                status.set(StatusCode::ABORTED, "the callback of sp-host failed");
            });
        }
        CallbackAction::Read(bytes) => {
            *state.seen.lock().unwrap_or_else(PoisonError::into_inner) = bytes.to_vec();
        }
    }
    state.has_run.store(true, Ordering::Release);
}

impl Callback {
    pub fn enqueue(
        executor: &Executor,
        stream: StreamHandle,
        action: CallbackAction,
    ) -> Result<Self, Stop> {
        // The plugin may call it after the check has ended.
        let state = leak_exempt(CallbackState {
            action,
            has_run: AtomicBool::new(false),
            seen: Mutex::default(),
        });
        let argument = std::ptr::from_ref(state).cast_mut().cast();
        // SAFETY: the argument is a leak-exempt `CallbackState`, which `run` reads.
        let is_taken = unsafe { executor.host_callback(stream, run, argument) }?;
        ensure(is_taken, || "host_callback returned false".into())?;
        Ok(Self(state))
    }

    pub fn has_run(self) -> bool {
        self.0.has_run.load(Ordering::Acquire)
    }

    /// Waits until the callback has run.
    pub fn wait(self) -> Result<(), Stop> {
        let end = Instant::now() + TIMEOUT;
        while !self.has_run() && Instant::now() < end {
            thread::sleep(Duration::from_micros(50));
        }
        ensure(self.has_run(), || {
            let seconds = TIMEOUT.as_secs();
            format!("a host callback has not run for {seconds} s")
        })
    }

    /// Returns the bytes that the callback has read.
    pub fn seen(self) -> Vec<u8> {
        let seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}
