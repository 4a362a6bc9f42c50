//! Queues: work in order, on one thread for each queue.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::abi::{Result, Status};
use crate::device::Device;
use crate::fault::Delays;

/// A queue of a device.
pub struct Queue {
    /// Its device.
    pub device: Arc<Device>,
    state: Mutex<State>,
    changed: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    work: VecDeque<Operation>,
    is_busy: bool,
    error: Option<Failure>,
    is_closing: bool,
    is_cancelled: bool,
}

/// The sticky error of a queue.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The status.
    pub status: Status,
    /// The operation that failed.
    pub operation: String,
}

/// An element of a queue.
pub struct Operation {
    /// Its name, for errors.
    pub name: String,
    /// The work.
    pub action: Action,
}

/// The work of an operation.
pub enum Action {
    /// Runs unless the queue has an error.
    Run(Box<dyn FnOnce() -> Result + Send>),
    /// Runs unless the queue has an error, until it is cancelled.
    Hang,
    /// Runs in any case: fences and host functions.
    Always(Box<dyn FnOnce(&Queue) + Send>),
}

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

static IS_SHUT_DOWN: AtomicBool = AtomicBool::new(false);

/// Returns an error on a thread of the driver, where waiting would never end.
pub fn check_may_wait() -> Result {
    match IS_WORKER.get() {
        true => Err(Status::WRONG_THREAD),
        false => Ok(()),
    }
}

/// Returns true after [`shut_down`].
pub fn is_shut_down() -> bool {
    IS_SHUT_DOWN.load(Ordering::Acquire)
}

/// Stops the threads of the queues, which are all that exist.
pub fn shut_down(queues: impl FnOnce() -> Vec<Arc<Queue>>) -> Result {
    check_may_wait()?;
    IS_SHUT_DOWN.store(true, Ordering::Release);
    let queues = queues();
    queues.iter().for_each(|queue| queue.start_closing());
    queues.iter().for_each(|queue| queue.join());
    Ok(())
}

impl Queue {
    /// Creates a queue and starts its thread.
    pub fn start(device: Arc<Device>) -> Result<Arc<Self>> {
        static THREADS: AtomicU64 = AtomicU64::new(0);
        let queue = Arc::new(Self {
            device,
            state: Mutex::default(),
            changed: Condvar::new(),
            thread: Mutex::default(),
        });
        let number = THREADS.fetch_add(1, Ordering::Relaxed);
        let worker = queue.clone();
        let builder = thread::Builder::new().name(format!("virtaccel-{number}"));
        let thread = builder.spawn(move || worker.serve(Delays::new(number)));
        let thread = thread.map_err(|_| Status::OUT_OF_MEMORY)?;
        *queue.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(queue)
    }

    /// Adds an operation.
    pub fn push(&self, name: impl Into<String>, action: Action) -> Result {
        let mut state = self.lock();
        if state.is_closing {
            return Err(Status::INVALID_HANDLE);
        }
        if !matches!(action, Action::Always(_)) {
            sticky_error(&state)?;
        }
        let name = name.into();
        state.work.push_back(Operation { name, action });
        self.changed.notify_all();
        Ok(())
    }

    /// Waits for all work.
    pub fn synchronize(&self) -> Result {
        check_may_wait()?;
        let is_working = |state: &mut State| state.is_busy || !state.work.is_empty();
        let state = self.changed.wait_while(self.lock(), is_working);
        sticky_error(&state.unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether all work is complete, as a status.
    pub fn query(&self) -> Result {
        let state = self.lock();
        sticky_error(&state)?;
        match state.is_busy || !state.work.is_empty() {
            true => Err(Status::NOT_READY),
            false => Ok(()),
        }
    }

    /// Makes an error the sticky one, unless the queue has one.
    pub fn fail(&self, failure: Failure) {
        self.lock().error.get_or_insert(failure);
    }

    /// Returns the sticky error, and removes it if `clear`.
    pub fn error(&self, clear: bool) -> Option<Failure> {
        let mut state = self.lock();
        match clear {
            true => state.error.take(),
            false => state.error.clone(),
        }
    }

    /// Ends a launch that hangs, now or as the next one.
    pub fn cancel(&self) {
        let mut state = self.lock();
        let hangs = |operation: &Operation| matches!(operation.action, Action::Hang);
        state.is_cancelled = state.is_busy || state.work.iter().any(hangs);
        self.changed.notify_all();
    }

    /// Runs the work that is left and ends the thread.
    pub fn close(&self) -> Result {
        check_may_wait()?;
        self.start_closing();
        self.join();
        Ok(())
    }

    fn start_closing(&self) {
        self.lock().is_closing = true;
        self.changed.notify_all();
    }

    fn join(&self) {
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // A panic of the thread was caught in `run`.
        let _ = thread.map(JoinHandle::join);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut delays: Delays) {
        IS_WORKER.set(true);
        while let Some(operation) = self.next() {
            let delay = delays.next();
            if delay > 0 && !is_shut_down() {
                thread::sleep(Duration::from_micros(delay));
            }
            self.run(operation);
            let mut state = self.lock();
            state.is_busy = false;
            self.changed.notify_all();
        }
    }

    /// Returns the next operation, or `None` if the queue is closed and empty.
    fn next(&self) -> Option<Operation> {
        let is_idle = |state: &mut State| state.work.is_empty() && !state.is_closing;
        let state = self.changed.wait_while(self.lock(), is_idle);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let operation = state.work.pop_front();
        state.is_busy = operation.is_some();
        operation
    }

    fn run(&self, Operation { name, action }: Operation) {
        let is_skipped = self.lock().error.is_some() || is_shut_down();
        let result = match action {
            Action::Always(action) => call(|| {
                action(self);
                Ok(())
            }),
            _ if is_skipped => Ok(()),
            Action::Run(action) => call(action),
            Action::Hang => self.hang(),
        };
        if let Err(status) = result {
            let operation = name;
            self.fail(Failure { status, operation });
        }
    }

    /// Waits for [`cancel`](Self::cancel) or the end of the queue.
    fn hang(&self) -> Result {
        let hangs = |state: &mut State| !state.is_cancelled && !state.is_closing;
        let state = self.changed.wait_while(self.lock(), hangs);
        state.unwrap_or_else(PoisonError::into_inner).is_cancelled = false;
        Err(Status::CANCELLED)
    }
}

fn sticky_error(state: &State) -> Result {
    state.error.as_ref().map_or(Ok(()), |it| Err(it.status))
}

/// Calls work; a panic is a failed launch.
fn call(work: impl FnOnce() -> Result) -> Result {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Status::LAUNCH_FAILED))
}
