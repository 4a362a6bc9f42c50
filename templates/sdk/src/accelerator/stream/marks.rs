//! The recent commands of a stream, by which errors name the command that has failed.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Error;
use crate::accelerator::{Accelerator, guard};
use crate::kernel::Operation;
use crate::trace::{CommandKind, Direction};

/// Largest number of commands whose names a stream remembers.
const MAX_MARKS: usize = 64;

/// A command, as messages name it.
#[derive(Debug)]
pub(in crate::accelerator) enum Command {
    Kernel(Operation),
    /// A kernel on the host, with its copies.
    HostKernel(Arc<str>),
    Copy(Direction, usize),
    Fill(usize),
}

impl Command {
    /// Returns the kind in a profile.
    pub fn kind(&self) -> CommandKind {
        match *self {
            Self::Kernel(_) | Self::HostKernel(_) => CommandKind::Kernel,
            Self::Copy(direction, bytes) => CommandKind::Copy(direction, bytes as u64),
            Self::Fill(bytes) => CommandKind::Fill(bytes as u64),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(operation) => operation.fmt(f),
            Self::HostKernel(name) => f.write_str(name),
            Self::Copy(direction, bytes) => {
                let direction = match direction {
                    Direction::ToDevice => "from the host",
                    Direction::ToHost => "to the host",
                    Direction::OnDevice => "on the device",
                    Direction::ToPeer => "to another device",
                };
                write!(f, "copy of {bytes} bytes {direction}")
            }
            Self::Fill(bytes) => write!(f, "copy of {bytes} bytes of a pattern"),
        }
    }
}

/// An error, and the number of the command that has failed, in the order in which commands were enqueued.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub sequence: u64,
    pub error: Error,
}

impl Failure {
    /// Returns a failure of which the command is not known.
    pub fn last(error: Error) -> Self {
        let sequence = u64::MAX;
        Self { sequence, error }
    }

    /// Returns a failure of a command that has no mark.
    pub fn of_unmarked(command: &Command, error: &Error) -> Self {
        Self::last(named(command, error))
    }
}

/// The commands that are not known to have completed, in their order.
pub(super) struct Marks<A: Accelerator>(Mutex<VecDeque<Mark<A>>>);

/// A command and a fence behind it.
pub(super) struct Mark<A: Accelerator> {
    sequence: u64,
    command: Command,
    /// Number of later commands without a mark of their own.
    others: usize,
    fence: A::Fence,
}

impl<A: Accelerator> Marks<A> {
    pub fn new() -> Self {
        Self(Mutex::new(VecDeque::with_capacity(MAX_MARKS)))
    }

    /// Adds a command and the fence behind it. Returns the failure of the first command, if that has failed.
    pub fn push(&self, command: Command, fence: A::Fence) -> Option<Failure> {
        let mut marks = self.pending();
        let failed = marks.front().and_then(Mark::failure);
        if marks.len() < MAX_MARKS {
            marks.push_back(Mark::new(command, fence));
        } else if let Some(last) = marks.back_mut() {
            last.others += 1;
            last.fence = fence;
        }
        failed
    }

    /// Returns true if a command is not known to have completed.
    pub fn has_pending(&self) -> bool {
        !self.pending().is_empty()
    }

    /// Forgets the commands that have completed.
    pub fn forget_completed(&self) {
        drop(self.pending());
    }

    /// Returns the failure that `find` returns for the first command that has not completed.
    pub fn find_first(&self, find: impl Fn(&Mark<A>) -> Option<Failure>) -> Option<Failure> {
        find(self.pending().front()?)
    }

    /// Returns the marks without those of completed commands.
    fn pending(&self) -> MutexGuard<'_, VecDeque<Mark<A>>> {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_complete = |it: &Mark<A>| guard::is_complete(&it.fence) == Ok(true);
        while marks.front().is_some_and(is_complete) {
            marks.pop_front();
        }
        marks
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
    pub fn failure(&self) -> Option<Failure> {
        guard::is_complete(&self.fence)
            .err()
            .map(|it| self.describe(&it))
    }

    /// Returns an error under the name of the command.
    pub fn describe(&self, error: &Error) -> Failure {
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

fn named(command: &impl fmt::Display, error: &Error) -> Error {
    Error::new(error.code(), format!("{command}: {}", error.message()))
}
