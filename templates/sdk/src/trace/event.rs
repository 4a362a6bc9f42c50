//! Recorded events.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::device::ClockPair;

/// Events of a plugin in a session.
#[derive(Debug, Default)]
pub struct Recording {
    /// The calls of kernels, in the order in which they returned.
    pub kernels: Vec<KernelCall>,
    /// The commands of queues.
    pub commands: Vec<Command>,
    /// Other activities of the host's threads.
    pub activities: Vec<Activity>,
    /// Allocations of device memory, and their ends.
    pub memory: Vec<MemoryChange>,
    /// The clocks of the devices at the start and the end of the session.
    pub(crate) clocks: Vec<ClockPair>,
}

impl Recording {
    pub(super) const fn new() -> Self {
        Self {
            kernels: Vec::new(),
            commands: Vec::new(),
            activities: Vec::new(),
            memory: Vec::new(),
            clocks: Vec::new(),
        }
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.kernels.len() + self.commands.len() + self.activities.len() + self.memory.len()
    }

    /// Returns true if there are no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Converts the times of commands from the clock of their device to the host's.
    pub(super) fn align(&mut self) {
        for command in &mut self.commands {
            let pair = self.clocks.iter().find(|it| it.device == command.device);
            let (Some((start, end)), Some(pair)) = (command.span.take(), pair) else {
                continue;
            };
            command.clock = Clock::DeviceTime;
            command.start = pair.to_host(start);
            command.duration = pair.to_host_duration(end.saturating_sub(start));
        }
    }
}

/// A thread of the host, as events refer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thread {
    /// Number from 1 in the order of the threads' first events.
    pub number: u64,
    /// The id of the thread's line in TensorFlow's own plane, where it is known.
    pub line: Option<u64>,
}

/// A recorded call of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelCall {
    /// The op and its types.
    pub kernel: &'static str,
    /// The op.
    pub op: &'static str,
    /// The name of the node.
    pub node: Arc<str>,
    /// TensorFlow's number of the run of a graph; 0 in eager mode.
    pub step: i64,
    /// Element types and shapes of the inputs that the kernel has fetched, such as `float[64,10];int32[2]`.
    pub inputs: String,
    /// Bytes of these inputs.
    pub input_bytes: u64,
    /// Bytes that were copied between device and host since the kernel computes on the host.
    pub copied_bytes: u64,
    /// True if the call ended before the kernel computed on the host, as a command of the stream. Other staged calls wait for
    /// the stream.
    pub is_behind: bool,
    /// The owner of the kernel.
    pub source: KernelSource,
    /// The crate that has the kernel.
    pub owner: &'static str,
    /// The ordinal of the device.
    pub device: u32,
    /// The thread that TensorFlow called on, numbered from 1 in the order of their first calls.
    pub thread: u64,
    /// Time of the call.
    pub start: SystemTime,
    /// Time until the kernel returned. A kernel that enqueues work has only enqueued it by then: [`Command`] has its time on the
    /// device.
    pub duration: Duration,
    pub(crate) line: Option<u64>,
    /// The number of the call, by which commands refer to it.
    pub(crate) correlation: u64,
}

/// Source of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelSource {
    /// A kernel of the plugin's own crates.
    Own,
    /// A kernel of the reference backend.
    Reference,
    /// A kernel of either that has computed on the host, on copies of device memory.
    Staged,
}

impl KernelSource {
    /// Returns the name in a profile.
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Reference => "reference",
            Self::Staged => "staged",
        }
    }
}

/// A command of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The kind.
    pub kind: CommandKind,
    /// The ordinal of the device.
    pub device: u32,
    /// The number of the stream, from 1; 0 for a device whose work is done on the calling thread.
    pub stream: u64,
    /// The clock that has measured `start` and `duration`.
    pub clock: Clock,
    /// Start of the command, in the host's time. By the clock of the host: the call that enqueued it.
    pub start: SystemTime,
    /// Duration. By the clock of the host: that of the call that enqueued it.
    pub duration: Duration,
    /// Start of the call that enqueued it.
    pub enqueued: SystemTime,
    /// Duration of that call.
    pub enqueue_duration: Duration,
    pub(crate) thread: Thread,
    /// The number of the call of a kernel, or of this command alone.
    pub(crate) correlation: u64,
    /// Start and end by the clock of the device.
    pub(crate) span: Option<(Duration, Duration)>,
}

/// Kind of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandKind {
    /// The work of a kernel's call.
    Kernel,
    /// A copy of this many bytes.
    Copy(Direction, u64),
    /// Writes of a pattern to this many bytes.
    Fill(u64),
    /// A wait of the stream for another one.
    Wait,
}

/// The direction of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the host to the device.
    ToDevice,
    /// From the device to the host.
    ToHost,
    /// On the device.
    OnDevice,
    /// To another device.
    ToPeer,
}

/// A clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The device has measured the times, which were converted to the host's.
    DeviceTime,
    /// The host has measured the times: the thread that computes, or the call that enqueues.
    HostTime,
}

/// An activity of a thread of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// The kind, with its object.
    pub kind: ActivityKind,
    /// Start.
    pub start: SystemTime,
    /// Duration.
    pub duration: Duration,
    pub(crate) thread: Thread,
}

/// The kinds of activities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivityKind {
    /// A wait for the commands of the stream with this number.
    Wait(u64),
    /// The graph optimizer, with the bytes of the graph before it and after it; `None` if it has changed nothing.
    GraphPass(usize, Option<usize>),
}

/// An allocation of device memory, or its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryChange {
    /// The ordinal of the device.
    pub device: u32,
    /// True if memory was allocated, false if it was freed.
    pub is_allocation: bool,
    /// The address.
    pub address: usize,
    /// Bytes of the allocation.
    pub bytes: u64,
    /// Bytes in use after it.
    pub in_use: u64,
    /// The largest number of bytes in use so far.
    pub peak: u64,
    /// All bytes of the device; 0 if they are not known.
    pub total: u64,
    /// Time.
    pub time: SystemTime,
    pub(crate) thread: Thread,
}
