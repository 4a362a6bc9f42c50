//! A stream of TensorFlow: a queue, its recent commands, and its first error.
//!
//! | module | content |
//! |---|---|
//! | this one | commands and waits |
//! | `failures` | the first error of a stream and of those it waits for |
//! | `marks` | the recent commands, with a fence each |
//! | `usage` | whether commands may use device memory |
//! | `timing` | the times of commands by the device's clock, for profiles |
//! | `retained` | memory that lives until a synchronization |
//!
//! A command has a fence behind it, by which an error names the command that has failed. The first of several
//! failures is the one that was enqueued first. An event is never in error, and a copy or a dependency returns errors
//! only in releases that do not end the process then (`to_slot_result` of `slots.rs`).

mod failures;
mod marks;
mod retained;
mod timing;
mod usage;

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use sp_runtime::fork::Process;

pub(super) use self::failures::Failures;
pub(super) use self::marks::Command;
use self::retained::Retained;
pub(super) use self::timing::Begun;
use self::timing::Timing;
use self::usage::Usage;
use super::guard::{self, call_queue};
use super::{Accelerator, Queue, host_function, limits};
use crate::trace::device::ClockSample;
use crate::trace::{self, ActiveActivity, ActivityKind, CommandKind};
use crate::{Code, Error, Result};

/// A stream of an [`AcceleratorDevice`](super::AcceleratorDevice).
pub struct Stream<A: Accelerator>(pub(super) Arc<StreamState<A>>);

/// The state of a stream.
pub(super) struct StreamState<A: Accelerator> {
    // Dropped before what its commands use.
    queue: A::Queue,
    pub failures: Arc<Failures<A>>,
    /// The first error that a callback of TensorFlow has reported. It stops no commands.
    callback_failure: OnceLock<Error>,
    usage: Usage,
    retained: Retained,
    process: Process,
    timing: Timing<A>,
}

impl<A: Accelerator> StreamState<A> {
    pub fn new(queue: A::Queue, device: u32) -> Self {
        Self {
            queue,
            failures: Arc::new(Failures::new()),
            callback_failure: OnceLock::new(),
            usage: Usage::default(),
            retained: Retained::default(),
            process: Process::current(),
            timing: Timing::new(device),
        }
    }

    /// Returns the queue for commands that use device memory. The caller calls [`close`](Self::close) once they are enqueued.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn queue(&self) -> Result<&A::Queue> {
        self.check()?;
        self.usage.open();
        Ok(&self.queue)
    }

    /// Returns true if the queue copies what a host function writes before the copy.
    pub fn has_late_copies(&self) -> bool {
        let has_copies = |queue: &A::Queue| Ok(queue.late_copies().is_some());
        call_queue(&self.queue, has_copies).unwrap_or(false)
    }

    /// Ends a use of the queue. A synchronization that began earlier does not count for its commands.
    pub fn close(&self) {
        self.usage.close();
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
            .map_err(|error| self.failures.fail(&error))
    }

    /// Enqueues a fence, a wait or a function, none of which uses device memory. Its error is the stream's, since TensorFlow
    /// ignores that of most commands.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn enqueue<T>(&self, command: impl FnOnce(&A::Queue) -> Result<T>) -> Result<T> {
        self.check()?;
        call_queue(&self.queue, command).map_err(|error| self.failures.fail(&error))
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
        let timing = self.begin_timing();
        match self.enqueue_use(enqueue)? {
            Ok(()) => {
                self.end_timing(timing, command.kind());
                self.mark(command)
            }
            Err(error) => Err(self.failures.fail_at(&command, &error)),
        }
    }

    /// Starts to measure a command, if a profile runs.
    pub fn begin_timing(&self) -> Option<Begun<A>> {
        self.timing.begin(&self.queue)
    }

    /// Ends the measurement of a command, which has been enqueued.
    pub fn end_timing(&self, begun: Option<Begun<A>>, kind: CommandKind) {
        if let Some(begun) = begun {
            self.timing.end(&self.queue, begun, kind);
        }
    }

    /// Records the times of all commands, for which it waits.
    pub fn finish_timing(&self) {
        if self.process.is_current() {
            self.timing.finish();
        }
    }

    /// Forgets the commands of an earlier session.
    pub fn discard_timing(&self) {
        if self.process.is_current() {
            self.timing.discard();
        }
    }

    /// Returns a time of the clock of the device and of the host's; `None` without a clock, or if a fence does not complete in
    /// time.
    pub fn sample_clock(&self) -> Option<ClockSample> {
        const ROUNDS: usize = 8;
        let samples = (0..ROUNDS).map_while(|_| self.sample_clock_once());
        samples.min_by_key(|it| it.uncertainty)
    }

    fn sample_clock_once(&self) -> Option<ClockSample> {
        const LIMIT: Duration = Duration::from_millis(100);
        let (host, timer) = (SystemTime::now(), Instant::now());
        let fence = call_queue(&self.queue, Queue::record).ok()?;
        while !guard::is_complete(&fence).ok()? {
            if timer.elapsed() > LIMIT {
                return None;
            }
            thread::yield_now();
        }
        let uncertainty = timer.elapsed() / 2;
        Some(ClockSample {
            device: guard::timestamp(&fence)?,
            host: host + uncertainty,
            uncertainty,
        })
    }

    /// Records a fence behind a command that was enqueued.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn mark(&self, command: Command) -> Result<()> {
        match call_queue(&self.queue, Queue::record) {
            Ok(fence) => self.failures.mark(command, fence),
            Err(error) => Err(self.failures.fail_at(&command, &error)),
        }
    }

    /// Returns the first error that is known.
    pub fn check(&self) -> Result<()> {
        self.failures.check()
    }

    /// Records an error as it is. Returns the first one.
    pub fn fail_as(&self, error: Error) -> Error {
        self.failures.fail_as(error)
    }

    /// Makes later commands of this stream wait for the present ones of another.
    ///
    /// # Errors
    /// Returns the first error of either stream.
    pub fn wait_for_stream(&self, other: &Self) -> Result<()> {
        match other.enqueue(Queue::record) {
            Ok(fence) => self.wait_for_fence(&fence, other),
            Err(error) => Err(self.fail_as(error)),
        }
    }

    /// Makes later commands wait for a fence of another stream.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn wait_for_fence(&self, fence: &A::Fence, other: &Self) -> Result<()> {
        let timing = self.begin_timing();
        self.enqueue(|queue| queue.wait(fence))?;
        self.end_timing(timing, CommandKind::Wait);
        self.failures.add_upstream(&other.failures);
        Ok(())
    }

    /// Waits on the calling thread for all commands.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn synchronize(&self) -> Result<()> {
        self.check()?;
        let _wait = self.begin_wait();
        let closed = self.usage.closed();
        self.retained.release_after(|| match limits::timeout() {
            None => call_queue(&self.queue, Queue::synchronize)
                .map_err(|error| self.failures.fail(&error)),
            Some(limit) => {
                let fence = self.enqueue(Queue::record)?;
                self.wait_within(&fence, limit)
            }
        })?;
        self.usage.record_drained(closed);
        self.failures.check_commands()
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
        may_wait && !host_function::is_running() && guard::is_drained::<A>(&self.queue)
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
        let _wait = self.begin_wait();
        match limits::timeout() {
            None => guard::wait(fence).map_err(|error| self.failures.fail(&error))?,
            Some(limit) => self.wait_within(fence, limit)?,
        }
        self.failures.check_commands()
    }

    /// Starts the record of a wait of this thread, if a profile runs.
    fn begin_wait(&self) -> Option<ActiveActivity> {
        trace::begin_activity(ActivityKind::Wait(self.timing.number()))
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
        while !guard::is_complete(fence).map_err(|error| self.failures.fail(&error))? {
            if start.elapsed() > limit {
                return Err(self.failures.fail_pending(&expired(limit)));
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

    /// Shares the use count of memory until the present commands have completed.
    pub fn hold(&self, use_count: &Arc<()>) {
        if self.usage.is_idle() {
            return;
        }
        let held = use_count.clone();
        let drop_held = Box::new(move || drop(held));
        if call_queue(&self.queue, |queue| queue.host_function(drop_held)).is_err() {
            self.retained.push(use_count.clone());
        }
    }

    /// Enqueues a function that runs also after a failure. Returns false if the queue has dropped it.
    pub fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> bool {
        let enqueued = call_queue(&self.queue, |queue| queue.host_function(function));
        enqueued.map_err(|error| self.failures.fail(&error)).is_ok()
    }
}

impl<A: Accelerator> Drop for StreamState<A> {
    /// Leaks the memory that commands of a queue that takes no functions may still use. Other memory lives longer than the
    /// queue.
    fn drop(&mut self) {
        if self.process.is_current() {
            self.timing.close();
        }
        let is_unused = self.retained.is_empty() || self.try_drain();
        if !is_unused {
            self.retained.leak();
        }
    }
}

/// Returns the error for work that has not completed in time.
pub(super) fn expired(limit: Duration) -> Error {
    Error::new(
        Code::DEADLINE_EXCEEDED,
        format!("not complete after {limit:?} (SP_QUEUE_TIMEOUT)"),
    )
}
