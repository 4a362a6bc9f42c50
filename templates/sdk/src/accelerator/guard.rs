//! Calls of an author's queues and fences, whose panics become errors. A command that was enqueued before the panic may still
//! use memory, so a panic is never taken for the completion of a command.
//!
//! After a panic the layer waits for the queue as after any other error. Memory of the layer is leaked, and where
//! TensorFlow would free its own, the process ends (`StreamState::drain`).

use std::time::Duration;

use sp_runtime::guard::catch_panic;

use super::{Accelerator, Fence, Queue};
use crate::Result;

/// Calls a method of a queue.
///
/// # Errors
/// Returns the method's error, or its panic as one.
pub(super) fn call_queue<Q, T>(queue: &Q, method: impl FnOnce(&Q) -> Result<T>) -> Result<T> {
    catch_panic("the queue", || method(queue))
}

/// Waits for all commands of a queue. Returns false if `synchronize` has panicked: commands may still use memory.
pub(super) fn is_drained<A: Accelerator>(queue: &A::Queue) -> bool {
    // An error is that of a command. The queue has waited for it too.
    catch_panic("the queue", || Ok(queue.synchronize())).is_ok()
}

/// Returns true if the commands before a fence have completed.
///
/// # Errors
/// Returns the fence's error, or its panic as one.
pub(super) fn is_complete(fence: &impl Fence) -> Result<bool> {
    catch_panic("the fence", || fence.is_complete())
}

/// Returns the time of a complete fence by the device's clock.
pub(super) fn timestamp(fence: &impl Fence) -> Option<Duration> {
    let time = catch_panic("the fence", || Ok(fence.timestamp()));
    time.ok().flatten()
}

/// Waits for a fence.
///
/// # Errors
/// Returns the fence's error, or its panic as one.
pub(super) fn wait(fence: &impl Fence) -> Result<()> {
    catch_panic("the fence", || fence.wait())
}
