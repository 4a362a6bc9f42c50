//! Callbacks of TensorFlow, each called exactly once.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use sp_abi::stream_executor::SE_StatusCallbackFn;
use sp_runtime::{Error, Status, guard};

use super::stream::StreamState;
use super::{Accelerator, host_function};

/// A callback that has not run. Dropping it calls it, so a queue that drops its functions calls it too.
struct Callback<A: Accelerator> {
    function: SE_StatusCallbackFn,
    argument: *mut c_void,
    stream: Weak<StreamState<A>>,
}

// SAFETY: TensorFlow's callbacks may run on any thread.
unsafe impl<A: Accelerator> Send for Callback<A> {}

impl<A: Accelerator> Drop for Callback<A> {
    fn drop(&mut self) {
        host_function::run(|| guard::run_with_default("a host callback", (), || self.call()));
    }
}

impl<A: Accelerator> Callback<A> {
    /// Calls the function. Its error is one of the stream's status only.
    fn call(&self) {
        let Some(function) = self.function else {
            return;
        };
        // Only a process without TensorFlow, such as a unit test, has no status.
        let status = Status::new().ok();
        let raw = status.as_ref().map_or(ptr::null_mut(), Status::as_ptr);
        // SAFETY: TensorFlow's own function and argument; `Drop` calls it once.
        unsafe { function(self.argument, raw) };
        if let Some(Err(error)) = status.map(|it| it.check()) {
            self.fail(error);
        }
    }

    fn fail(&self, error: Error) {
        if let Some(stream) = self.stream.upgrade() {
            stream.fail_callback(error);
        }
    }
}

/// The callback of a host function, whose other owner keeps it from running if the queue rejects the function.
struct SharedCallback<A: Accelerator>(Mutex<Option<Callback<A>>>);

impl<A: Accelerator> SharedCallback<A> {
    fn run(&self) {
        let callback = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(callback);
    }
}

/// Calls the function after the present commands of the stream. If the queue rejects functions, this thread waits for the
/// commands, since the function may free memory that they use.
///
/// # Safety
/// The function may be called once with the argument, on any thread.
pub(super) unsafe fn enqueue<A: Accelerator>(
    stream: &Arc<StreamState<A>>,
    function: SE_StatusCallbackFn,
    argument: *mut c_void,
) {
    let callback = Arc::new(SharedCallback(Mutex::new(Some(Callback {
        function,
        argument,
        stream: Arc::downgrade(stream),
    }))));
    let queued = callback.clone();
    if !stream.host_function(Box::new(move || queued.run())) {
        stream.drain();
    }
    // Runs it unless the queue has the function, or has run it.
    drop(callback);
}
