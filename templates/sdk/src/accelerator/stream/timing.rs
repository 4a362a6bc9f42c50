//! The times of a stream's commands by the device's clock, while a profile runs.
//!
//! A fence before a command and one behind it have its times. They are read when they have completed, in their order.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::accelerator::guard::{self, call_queue};
use crate::accelerator::{Accelerator, Queue};
use crate::trace::{self, Command, CommandKind, Started};

/// Longest time for which the end of a session waits for commands.
const PATIENCE: Duration = Duration::from_secs(10);

/// The commands of a stream whose times are not known yet.
pub(in crate::accelerator) struct Timing<A: Accelerator> {
    device: u32,
    number: u64,
    /// True if a fence had no time: no more are recorded for it.
    has_no_clock: AtomicBool,
    pending: Mutex<VecDeque<Pending<A>>>,
}

/// A command between two fences.
struct Pending<A: Accelerator> {
    before: A::Fence,
    behind: A::Fence,
    command: Command,
}

/// A command that is being enqueued.
pub(in crate::accelerator) struct Begun<A: Accelerator> {
    before: Option<A::Fence>,
    started: Started,
}

impl<A: Accelerator> Timing<A> {
    pub fn new(device: u32) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            device,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            has_no_clock: AtomicBool::new(false),
            pending: Mutex::default(),
        }
    }

    /// Returns the number of the stream.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Starts a command, or returns `None` if no profile runs.
    #[inline]
    pub fn begin(&self, queue: &A::Queue) -> Option<Begun<A>> {
        trace::is_on().then(|| self.begin_command(queue))
    }

    #[cold]
    fn begin_command(&self, queue: &A::Queue) -> Begun<A> {
        let started = Started::now();
        let before = match self.has_no_clock.load(Ordering::Relaxed) {
            true => None,
            false => call_queue(queue, Queue::record).ok(),
        };
        Begun { before, started }
    }

    /// Ends a command, which has been enqueued.
    #[cold]
    pub fn end(&self, queue: &A::Queue, begun: Begun<A>, kind: CommandKind) {
        let command = begun.started.command(kind, self.device, self.number);
        let behind = begun
            .before
            .as_ref()
            .map(|_| call_queue(queue, Queue::record));
        match (begun.before, behind) {
            (Some(before), Some(Ok(behind))) => {
                self.lock().push_back(Pending {
                    before,
                    behind,
                    command,
                });
                self.record_completed();
            }
            _ => trace::record_command(command),
        }
    }

    /// Records the commands that have completed.
    pub fn record_completed(&self) {
        while let Some((ended, is_complete)) = self.next_ended() {
            // A command that has failed has no times.
            match is_complete {
                true => self.record(ended),
                false => trace::record_command(ended.command),
            }
        }
    }

    /// Removes the first command if it has ended, and returns it with true if it is complete, false if it has failed.
    fn next_ended(&self) -> Option<(Pending<A>, bool)> {
        let mut pending = self.lock();
        let is_complete = guard::is_complete(&pending.front()?.behind);
        if is_complete == Ok(false) {
            return None;
        }
        Some((pending.pop_front()?, is_complete.is_ok()))
    }

    fn record(&self, completed: Pending<A>) {
        let mut command = completed.command;
        let times = [&completed.before, &completed.behind].map(guard::timestamp);
        match times {
            [Some(start), Some(end)] => command.span = Some((start, end)),
            _ => self.has_no_clock.store(true, Ordering::Relaxed),
        }
        trace::record_command(command);
    }

    /// Records all commands. It waits for them a limited time; those that have not completed then have the host's times.
    pub fn finish(&self) {
        let start = Instant::now();
        self.record_completed();
        while !self.lock().is_empty() && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_micros(100));
            self.record_completed();
        }
        self.close();
    }

    /// Records all commands without a wait: those that have not completed have the host's times.
    pub fn close(&self) {
        self.record_completed();
        // The fences are dropped without the lock: their code is the author's.
        let pending = std::mem::take(&mut *self.lock());
        for pending in pending {
            trace::record_command(pending.command);
        }
    }

    /// Forgets the commands, which are those of an earlier session that was not collected.
    pub fn discard(&self) {
        let forgotten = std::mem::take(&mut *self.lock());
        drop(forgotten);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Pending<A>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
