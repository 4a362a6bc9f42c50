//! Asynchronous kernels: calls that TensorFlow considers to run until the kernel runs its `done` function.
//!
//! An author writes a function that returns when the work is done. From 2.22 on it runs on a thread of the SDK, which
//! may wait without holding one of TensorFlow's. Up to 2.21 `done` is an argument of TensorFlow's caller, which ends
//! when compute returns, so the function runs before that.
//!
//! An author who gets `done` can call it twice, never, or later than the release allows, so the SDK calls it. A
//! future would have to be `Send`, which the tensors of a call are not. The price is a thread for each call that
//! waits, from 2.22 on.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use sp_abi::kernels::{
    TF_AsyncOpKernelDoneCallback, TF_OpKernelContext, TF_RunAsyncOpKernelDoneCallback,
};
use sp_runtime::fork::ProcessClaim;
use sp_runtime::{Release, Releases};

use super::callbacks;
use crate::Device;
use crate::kernel::spec::ComputeCall;
use crate::release::is_running;

/// The releases in which `done` may run after compute has returned.
const LATER: [Releases; 1] = [Releases::from(Release::new(2, 22))];

/// Computes one call of an asynchronous kernel whose instance this is.
pub(super) unsafe extern "C" fn compute<D: Device>(
    instance: *mut c_void,
    context: *mut TF_OpKernelContext,
    done: *mut TF_AsyncOpKernelDoneCallback,
) {
    start(instance, context, Done(done), callbacks::compute::<D>);
}

/// Computes one call of an asynchronous kernel whose instance this is, and compares it with the reference kernel.
pub(super) unsafe extern "C" fn compute_compared<D: Device>(
    instance: *mut c_void,
    context: *mut TF_OpKernelContext,
    done: *mut TF_AsyncOpKernelDoneCallback,
) {
    start(
        instance,
        context,
        Done(done),
        callbacks::compute_compared::<D>,
    );
}

/// TensorFlow has transferred the function in `done`, whose drop runs it once.
fn start(
    instance: *mut c_void,
    context: *mut TF_OpKernelContext,
    done: Done,
    compute: ComputeCall,
) {
    let task = Task {
        instance,
        context,
        done,
        compute,
    };
    match is_running(&LATER) {
        true => spawn(task),
        false => task.run(),
    }
}

/// The function that TensorFlow waits for. Dropping it runs the function, so that it runs exactly once.
struct Done(*mut TF_AsyncOpKernelDoneCallback);

impl Drop for Done {
    fn drop(&mut self) {
        match TF_RunAsyncOpKernelDoneCallback.get() {
            // SAFETY: TensorFlow transferred the function with the call, and it runs only here.
            Ok(run) => unsafe { run(self.0) },
            Err(error) => sp_runtime::report!(Error, "an asynchronous kernel cannot end: {error}"),
        }
    }
}

/// One call.
struct Task {
    instance: *mut c_void,
    context: *mut TF_OpKernelContext,
    done: Done,
    compute: ComputeCall,
}

// SAFETY: TensorFlow keeps context and instance until `done` runs, on whichever thread, and does not use the context
// meanwhile. An instance is shared by threads in any case.
unsafe impl Send for Task {}

impl Task {
    /// Computes the call, and then runs `done`. A panic and an error are the call's failure.
    fn run(self) {
        // SAFETY: TensorFlow passed both for this call, which ends with `done`. The function catches panics.
        unsafe { (self.compute)(self.instance, self.context) };
        drop(self.done);
    }
}

/// Tasks that wait for a thread, and the threads that wait for a task.
struct Queue {
    tasks: VecDeque<Task>,
    idle: usize,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    tasks: VecDeque::new(),
    idle: 0,
});
static ADDED: Condvar = Condvar::new();
static CLAIM: ProcessClaim = ProcessClaim::new();

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a task on another thread. No task waits for another one to end, since one may wait for the other: if no thread
/// is idle, a new one is started.
fn spawn(task: Task) {
    // A forked child has no threads, and its calls fail at once.
    if !CLAIM.try_claim() {
        return task.run();
    }
    let mut queue = queue();
    queue.tasks.push_back(task);
    if queue.tasks.len() <= queue.idle {
        return ADDED.notify_one();
    }
    drop(queue);
    let started = thread::Builder::new()
        .name("sp-kernel".to_owned())
        .spawn(serve);
    if started.is_err() {
        run_waiting();
    }
}

/// Runs tasks without end.
fn serve() {
    loop {
        run_waiting();
        let mut queue = queue();
        queue.idle += 1;
        while queue.tasks.is_empty() {
            queue = ADDED.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue.idle -= 1;
    }
}

/// Runs the tasks that no thread has taken.
fn run_waiting() {
    loop {
        // The lock is not held while the task runs.
        let task = queue().tasks.pop_front();
        match task {
            Some(task) => task.run(),
            None => return,
        }
    }
}
