//! A stream of TensorFlow: a queue, its recent commands, and its first error.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use sp_runtime::fork::Process;

use super::callback::is_in_host_function;
use super::guard::{self, call_queue};
use super::{Accelerator, Queue, limits};
use crate::kernel::Operation;
use crate::{Code, Error, Result};

/// Largest number of commands whose names a stream remembers.
const MAX_MARKS: usize = 64;

/// Longest time for which an error waits for the fence of the command that has failed.
const FENCE_DELAY: Duration = Duration::from_secs(1);

/// A stream of an [`AcceleratorDevice`](super::AcceleratorDevice).
pub struct Stream<A: Accelerator>(pub(super) Arc<StreamState<A>>);

/// The state of a stream. Streams that wait for this one refer to it.
pub(super) struct StreamState<A: Accelerator> {
    // Dropped before what its commands use.
    queue: A::Queue,
    failure: OnceLock<Failure>,
    /// The first error that a callback of TensorFlow has reported. It stops no commands.
    callback_failure: OnceLock<Error>,
    /// Number of users of the queue that may enqueue commands at present: between `queue` and `close`.
    open: AtomicU64,
    /// Number of users so far that enqueue no more, and of those whose commands are known to have completed.
    closed: AtomicU64,
    drained: AtomicU64,
    marks: Mutex<VecDeque<Mark<A>>>,
    upstream: Mutex<Vec<Weak<StreamState<A>>>>,
    /// Use counts of memory that a queue that takes no functions may still use.
    retained: Mutex<Vec<Arc<()>>>,
    process: Process,
}

/// An error, and the number of the command that has failed, in the order in which commands were enqueued.
#[derive(Debug, Clone)]
struct Failure {
    sequence: u64,
    error: Error,
}

impl Failure {
    /// Returns a failure of which the command is not known.
    fn last(error: Error) -> Self {
        let sequence = u64::MAX;
        Self { sequence, error }
    }
}

/// A command and a fence behind it.
struct Mark<A: Accelerator> {
    sequence: u64,
    command: Command,
    /// Number of later commands without a mark of their own.
    others: usize,
    fence: A::Fence,
}

/// A command, as messages name it.
#[derive(Debug)]
pub(super) enum Command {
    Kernel(Operation),
    Copy(&'static str, usize),
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(operation) => operation.fmt(f),
            Self::Copy(direction, bytes) => write!(f, "copy of {bytes} bytes {direction}"),
        }
    }
}

impl<A: Accelerator> StreamState<A> {
    pub fn new(queue: A::Queue) -> Self {
        Self {
            queue,
            failure: OnceLock::new(),
            callback_failure: OnceLock::new(),
            open: AtomicU64::new(0),
            closed: AtomicU64::new(0),
            drained: AtomicU64::new(0),
            marks: Mutex::new(VecDeque::with_capacity(MAX_MARKS)),
            upstream: Mutex::default(),
            retained: Mutex::default(),
            process: Process::current(),
        }
    }

    /// Returns the queue for commands that use device memory. The caller calls [`close`](Self::close) once they are enqueued.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn queue(&self) -> Result<&A::Queue> {
        self.check()?;
        self.open.fetch_add(1, Ordering::Relaxed);
        Ok(&self.queue)
    }

    /// Ends a use of the queue. A synchronization that began earlier does not count for its commands.
    pub fn close(&self) {
        self.closed.fetch_add(1, Ordering::Release);
        // Who finds no open user also finds the number of closed ones.
        self.open.fetch_sub(1, Ordering::Release);
    }

    /// Enqueues a command that uses device memory. Its error is that of the queue, and not yet the stream's.
    fn enqueue_use<T>(&self, command: impl FnOnce(&A::Queue) -> Result<T>) -> Result<Result<T>> {
        let result = call_queue(self.queue()?, command);
        self.close();
        Ok(result)
    }

    /// Enqueues a command that uses device memory.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn enqueue_copy<T>(&self, command: impl FnOnce(&A::Queue) -> Result<T>) -> Result<T> {
        self.enqueue_use(command)?
            .map_err(|error| self.fail(&error))
    }

    /// Enqueues a fence, a wait or a function, none of which uses device memory. Its error is the stream's, since TensorFlow
    /// ignores that of most commands.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn enqueue<T>(&self, command: impl FnOnce(&A::Queue) -> Result<T>) -> Result<T> {
        self.check()?;
        call_queue(&self.queue, command).map_err(|error| self.fail(&error))
    }

    /// Enqueues a command, and a fence by which errors name it.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn enqueue_marked(
        &self,
        command: Command,
        enqueue: impl FnOnce(&A::Queue) -> Result<()>,
    ) -> Result<()> {
        match self.enqueue_use(enqueue)? {
            Ok(()) => self.mark(command),
            Err(error) => Err(self.fail_at(&command, &error)),
        }
    }

    /// Records a fence behind a command that was enqueued.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn mark(&self, command: Command) -> Result<()> {
        let fence = match call_queue(&self.queue, Queue::record) {
            Ok(fence) => fence,
            Err(error) => return Err(self.fail_at(&command, &error)),
        };
        let mut marks = self.marks();
        pop_completed(&mut marks);
        let failed = marks.front().and_then(Mark::failure);
        if marks.len() < MAX_MARKS {
            marks.push_back(Mark::new(command, fence));
        } else if let Some(last) = marks.back_mut() {
            last.others += 1;
            last.fence = fence;
        }
        drop(marks);
        failed.map_or(Ok(()), |it| Err(self.fail_with(it)))
    }

    /// Forgets the commands that have completed. A driver whose fences return the error of their queue would return a later
    /// error for them too.
    pub fn forget_completed(&self) {
        pop_completed(&mut self.marks());
    }

    /// Returns true if a kernel or a copy is not known to have completed.
    pub fn has_pending_commands(&self) -> bool {
        let mut marks = self.marks();
        pop_completed(&mut marks);
        !marks.is_empty()
    }

    /// Returns the first error that is known.
    pub fn check(&self) -> Result<()> {
        let failure = self.failure.get();
        failure.map_or(Ok(()), |it| Err(it.error.clone()))
    }

    /// Looks for failed commands, of this stream and of those it has waited for.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn check_commands(&self) -> Result<()> {
        self.check()?;
        let failed = self.search(Mark::failure);
        failed.map_or(Ok(()), |it| Err(self.fail_with(it)))
    }

    /// Records an error that the queue or a fence has returned, under the name of the command that has failed.
    pub fn fail(&self, error: &Error) -> Error {
        let failed = self.await_failure();
        self.fail_with(failed.unwrap_or_else(|| Failure::last(error.clone())))
    }

    /// Records that work is not complete, under the name of the first command that is not.
    pub fn fail_pending(&self, error: &Error) -> Error {
        let pending = self.search(|it| Some(it.describe(error)));
        self.fail_with(pending.unwrap_or_else(|| Failure::last(error.clone())))
    }

    fn fail_at(&self, command: &Command, error: &Error) -> Error {
        let failed = self.await_failure();
        self.fail_with(failed.unwrap_or_else(|| Failure::last(named(command, error))))
    }

    /// Returns the first failure. A queue may return the error of a command before the fence behind it does, so this waits for
    /// the commands that are not complete.
    fn await_failure(&self) -> Option<Failure> {
        let start = Instant::now();
        loop {
            let failed = self.search(Mark::failure);
            let may_wait = start.elapsed() < FENCE_DELAY && !is_in_host_function();
            if failed.is_some() || !may_wait || !self.has_pending_commands() {
                return failed;
            }
            thread::sleep(Duration::from_micros(100));
        }
    }

    /// Records an error as it is. Returns the first one.
    pub fn fail_as(&self, error: Error) -> Error {
        self.fail_with(Failure::last(error))
    }

    fn fail_with(&self, failure: Failure) -> Error {
        let failure = self.failure.get_or_init(|| {
            // Some releases replace the message by one of their own.
            sp_runtime::report!(Error, "a stream has failed: {}", failure.error);
            failure
        });
        failure.error.clone()
    }

    /// Returns the first failure of this stream and of those it has waited for: known ones, and what `find` returns for
    /// the first commands that have not completed.
    ///
    /// A command that fails since another stream has failed was enqueued after the command that is the reason.
    fn search(&self, find: impl Fn(&Mark<A>) -> Option<Failure>) -> Option<Failure> {
        let mut first = self.own_failure(&find);
        let (mut visited, mut index) = (self.upstream(), 0);
        while let Some(stream) = visited.get(index).cloned() {
            let failure = stream.own_failure(&find);
            first = [first, failure]
                .into_iter()
                .flatten()
                .min_by_key(|it| it.sequence);
            for it in stream.upstream() {
                let is_new = !visited.iter().any(|known| Arc::ptr_eq(known, &it));
                if is_new && !std::ptr::eq(Arc::as_ptr(&it), self) {
                    visited.push(it);
                }
            }
            index += 1;
        }
        first
    }

    fn upstream(&self) -> Vec<Arc<Self>> {
        let upstream = self.upstream.lock().unwrap_or_else(PoisonError::into_inner);
        upstream.iter().filter_map(Weak::upgrade).collect()
    }

    fn own_failure(&self, find: impl Fn(&Mark<A>) -> Option<Failure>) -> Option<Failure> {
        let known = self.failure.get().cloned();
        known.or_else(|| {
            let mut marks = self.marks();
            pop_completed(&mut marks);
            find(marks.front()?)
        })
    }

    fn marks(&self) -> MutexGuard<'_, VecDeque<Mark<A>>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes later commands of this stream wait for the present ones of another.
    ///
    /// # Errors
    /// Returns the first error of either stream.
    pub fn wait_for_stream(&self, other: &Arc<Self>) -> Result<()> {
        match other.enqueue(Queue::record) {
            Ok(fence) => self.wait_for_fence(&fence, other),
            Err(error) => Err(self.fail_as(error)),
        }
    }

    /// Makes later commands wait for a fence of another stream.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn wait_for_fence(&self, fence: &A::Fence, other: &Arc<Self>) -> Result<()> {
        self.enqueue(|queue| queue.wait(fence))?;
        let mut upstream = self.upstream.lock().unwrap_or_else(PoisonError::into_inner);
        let other = Arc::downgrade(other);
        let is_self = std::ptr::eq(other.as_ptr(), self);
        if !is_self && !upstream.iter().any(|it| it.ptr_eq(&other)) {
            upstream.retain(|it| it.strong_count() > 0);
            upstream.push(other);
        }
        Ok(())
    }

    /// Waits on the calling thread for all commands.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn synchronize(&self) -> Result<()> {
        self.check()?;
        let closed = self.closed.load(Ordering::Acquire);
        self.release_retained(|| match limits::timeout() {
            None => call_queue(&self.queue, Queue::synchronize).map_err(|error| self.fail(&error)),
            Some(limit) => {
                let fence = self.enqueue(Queue::record)?;
                self.wait_within(&fence, limit)
            }
        })?;
        self.drained.fetch_max(closed, Ordering::Release);
        self.check_commands()
    }

    /// Waits for the present commands, and then releases the memory that a queue that takes no functions has used.
    fn release_retained(&self, wait: impl FnOnce() -> Result<()>) -> Result<()> {
        let retained = mem::take(&mut *self.retained());
        wait().inspect_err(|_| self.retained().extend(retained))
    }

    fn retained(&self) -> MutexGuard<'_, Vec<Arc<()>>> {
        self.retained.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits on the calling thread until no command uses memory any more, also on a failed stream and without a time limit.
    ///
    /// If the queue panics instead, the process ends: TensorFlow frees memory that commands may still use, and the layer can
    /// neither delay nor prevent it.
    pub fn drain(&self) {
        if !guard::is_drained::<A>(&self.queue) {
            let reason = self.check().err().map(|it| format!(" ({it})"));
            sp_runtime::report!(
                Error,
                "the process ends: `synchronize` of a failed queue panics{}, so its commands may use memory that TensorFlow frees",
                reason.unwrap_or_default()
            );
            std::process::abort();
        }
    }

    /// Waits as [`drain`](Self::drain), unless the wait might not end: there is a time limit, the process is a child of the one
    /// that has created the stream, or the thread runs a host function. Returns false if commands may still use memory.
    pub fn try_drain(&self) -> bool {
        let may_wait = limits::timeout().is_none() && self.process.is_current();
        may_wait && !is_in_host_function() && guard::is_drained::<A>(&self.queue)
    }

    /// Drains the stream, unless there is a time limit: copies then use memory of the layer. Returns true if it has waited.
    pub fn drain_without_limit(&self) -> bool {
        let may_wait = limits::timeout().is_none();
        if may_wait {
            self.drain();
        }
        may_wait
    }

    /// Waits on the calling thread for a fence.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn wait_on_host(&self, fence: &A::Fence) -> Result<()> {
        self.check()?;
        match limits::timeout() {
            None => guard::wait(fence).map_err(|error| self.fail(&error))?,
            Some(limit) => self.wait_within(fence, limit)?,
        }
        self.check_commands()
    }

    /// Waits on the calling thread for the present commands, at most as long as the time limit.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn wait_for_commands(&self) -> Result<()> {
        let fence = self.enqueue(Queue::record)?;
        self.wait_on_host(&fence)
    }

    /// Waits for a fence, at most as long as `limit`.
    fn wait_within(&self, fence: &A::Fence, limit: Duration) -> Result<()> {
        let (start, mut pause) = (Instant::now(), Duration::from_micros(10));
        while !guard::is_complete(fence).map_err(|error| self.fail(&error))? {
            if start.elapsed() > limit {
                return Err(self.fail_pending(&expired(limit)));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Records the error of a callback.
    pub fn fail_callback(&self, error: Error) {
        self.callback_failure.get_or_init(|| error);
    }

    /// Returns the first error of a callback.
    pub fn check_callbacks(&self) -> Result<()> {
        self.callback_failure.get().cloned().map_or(Ok(()), Err)
    }

    /// Returns true if all commands that use device memory are known to have completed.
    fn is_idle(&self) -> bool {
        // In this order: a use that ends in between is open or not drained.
        self.open.load(Ordering::Acquire) == 0
            && self.drained.load(Ordering::Acquire) == self.closed.load(Ordering::Acquire)
    }

    /// Shares the use count of memory until the present commands have completed.
    pub fn hold(&self, use_count: &Arc<()>) {
        if self.is_idle() {
            return;
        }
        let held = use_count.clone();
        let drop_held = Box::new(move || drop(held));
        if call_queue(&self.queue, |queue| queue.host_function(drop_held)).is_err() {
            self.retained().push(use_count.clone());
        }
    }

    /// Enqueues a function that runs also after a failure. Returns false if the queue has dropped it.
    pub fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> bool {
        let enqueued = call_queue(&self.queue, |queue| queue.host_function(function));
        enqueued.map_err(|error| self.fail(&error)).is_ok()
    }
}

impl<A: Accelerator> Drop for StreamState<A> {
    /// Leaks the memory that commands of a queue that takes no functions may still use. Other memory lives longer than the
    /// queue.
    fn drop(&mut self) {
        let is_unused = self.retained().is_empty() || self.try_drain();
        if !is_unused {
            mem::forget(mem::take(&mut *self.retained()));
        }
    }
}

impl<A: Accelerator> Mark<A> {
    fn new(command: Command, fence: A::Fence) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            sequence: NEXT.fetch_add(1, Ordering::Relaxed),
            command,
            others: 0,
            fence,
        }
    }

    /// Returns the error of the command, if it has failed.
    fn failure(&self) -> Option<Failure> {
        guard::is_complete(&self.fence)
            .err()
            .map(|it| self.describe(&it))
    }

    fn describe(&self, error: &Error) -> Failure {
        let (sequence, command) = (self.sequence, &self.command);
        let error = match self.others {
            0 => named(command, error),
            others => named(
                &format_args!("{command} or one of {others} later commands"),
                error,
            ),
        };
        Failure { sequence, error }
    }
}

/// Removes the marks of commands that have completed.
fn pop_completed<A: Accelerator>(marks: &mut VecDeque<Mark<A>>) {
    while marks
        .front()
        .is_some_and(|it| guard::is_complete(&it.fence) == Ok(true))
    {
        marks.pop_front();
    }
}

fn named(command: &impl fmt::Display, error: &Error) -> Error {
    Error::new(error.code(), format!("{command}: {}", error.message()))
}

/// Returns the error for work that has not completed in time.
pub(super) fn expired(limit: Duration) -> Error {
    Error::new(
        Code::DEADLINE_EXCEEDED,
        format!("not complete after {limit:?} (SP_QUEUE_TIMEOUT)"),
    )
}
