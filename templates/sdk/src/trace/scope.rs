//! Calls, activities and commands in progress.

use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use sp_runtime::thread::profile_line;

use super::event::Thread;
use super::{
    Activity, ActivityKind, Clock, Command, CommandKind, Direction, KernelCall, KernelSource,
    MemoryChange, is_on, next_correlation, push, record, record_command,
};

thread_local! {
    /// The number of the kernel's call in progress; 0 for none.
    static CALL: Cell<u64> = const { Cell::new(0) };
    /// The ordinal of the device that is being opened.
    static OPENING: Cell<u32> = const { Cell::new(0) };
}

/// Returns the ordinal of the device that is being opened on this thread: an author's `Device::open` that creates objects which
/// record events stores it. It is 0 on other threads.
pub fn opening_device() -> u32 {
    OPENING.get()
}

/// The time in which [`opening_device`] returns an ordinal.
pub(crate) struct OpenScope(u32);

impl OpenScope {
    pub fn new(ordinal: u32) -> Self {
        Self(OPENING.replace(ordinal))
    }
}

impl Drop for OpenScope {
    fn drop(&mut self) {
        OPENING.set(self.0);
    }
}

/// The start of something that will be recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Started {
    start: SystemTime,
    timer: Instant,
}

impl Started {
    pub fn now() -> Self {
        Self {
            start: SystemTime::now(),
            timer: Instant::now(),
        }
    }

    /// Returns the command that this thread has enqueued since the start, as the host has measured it.
    pub fn command(self, kind: CommandKind, device: u32, stream: u64) -> Command {
        let (start, duration) = (self.start, self.timer.elapsed());
        let call = CALL.get();
        let correlation = match kind {
            CommandKind::Kernel if call != 0 => call,
            _ => next_correlation(),
        };
        Command {
            kind,
            device,
            stream,
            clock: Clock::HostTime,
            start,
            duration,
            enqueued: start,
            enqueue_duration: duration,
            thread: current_thread(),
            correlation,
            span: None,
        }
    }
}

/// A kernel's call in progress that will be recorded.
pub(crate) struct ActiveCall {
    started: Started,
    correlation: u64,
    outer: u64,
    inputs: RefCell<Inputs>,
}

#[derive(Default)]
struct Inputs {
    text: String,
    bytes: u64,
}

/// Details of a call, known when it has returned.
pub(crate) struct CallDetails {
    pub kernel: &'static str,
    pub op: &'static str,
    pub node: Arc<str>,
    pub step: i64,
    pub copied_bytes: u64,
    pub is_behind: bool,
    pub owner: &'static str,
    pub is_reference: bool,
    pub device: u32,
}

/// Starts the record of a call, or returns `None` if recording is off.
#[inline]
pub(crate) fn begin() -> Option<Box<ActiveCall>> {
    is_on().then(begin_call)
}

#[cold]
pub(super) fn begin_call() -> Box<ActiveCall> {
    let correlation = next_correlation();
    Box::new(ActiveCall {
        outer: CALL.replace(correlation),
        correlation,
        inputs: RefCell::default(),
        started: Started::now(),
    })
}

impl ActiveCall {
    /// Returns the number of the call.
    #[cfg(test)]
    pub fn correlation(&self) -> u64 {
        self.correlation
    }

    /// Adds an input that the kernel has fetched.
    #[cold]
    pub fn add_input(&self, dtype: impl std::fmt::Debug, dims: &[usize], bytes: u64) {
        let mut inputs = self.inputs.borrow_mut();
        if !inputs.text.is_empty() {
            inputs.text.push(';');
        }
        let name = format!("{dtype:?}");
        inputs
            .text
            .push_str(&name.trim_start_matches("TF_").to_lowercase());
        // Writing to a String does not fail.
        let _ = write!(inputs.text, "{dims:?}");
        inputs.bytes += bytes;
    }

    /// Records the call: its kernel has returned.
    pub fn record(&self, details: CallDetails) {
        let duration = self.started.timer.elapsed();
        let source = match (details.copied_bytes, details.is_reference) {
            (1.., _) => KernelSource::Staged,
            (0, true) => KernelSource::Reference,
            (0, false) => KernelSource::Own,
        };
        let (thread, inputs) = (current_thread(), self.inputs.take());
        record(|it| {
            let call = KernelCall {
                kernel: details.kernel,
                op: details.op,
                node: details.node,
                step: details.step,
                inputs: inputs.text.replace(", ", ","),
                input_bytes: inputs.bytes,
                copied_bytes: details.copied_bytes,
                is_behind: details.is_behind,
                source,
                owner: details.owner,
                device: details.device,
                thread: thread.number,
                start: self.started.start,
                duration,
                line: thread.line,
                correlation: self.correlation,
            };
            push(&mut it.kernels, call);
        });
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        CALL.set(self.outer);
    }
}

/// An activity in progress, which is recorded when it is dropped.
pub(crate) struct ActiveActivity {
    started: Started,
    kind: ActivityKind,
}

/// Starts the record of an activity, or returns `None` if recording is off.
pub(crate) fn begin_activity(kind: ActivityKind) -> Option<ActiveActivity> {
    is_on().then(|| ActiveActivity {
        started: Started::now(),
        kind,
    })
}

impl ActiveActivity {
    /// Replaces the description.
    pub fn set_kind(&mut self, kind: ActivityKind) {
        self.kind = kind;
    }
}

impl Drop for ActiveActivity {
    fn drop(&mut self) {
        let activity = Activity {
            kind: self.kind.clone(),
            start: self.started.start,
            duration: self.started.timer.elapsed(),
            thread: current_thread(),
        };
        record(|it| push(&mut it.activities, activity));
    }
}

/// A copy in progress on the calling thread, which is recorded when it is dropped.
pub struct Copying {
    started: Started,
    kind: CommandKind,
    device: u32,
}

/// Starts the record of a copy that the calling thread does until the value is dropped; returns `None` if recording is off. It
/// is for a device that is not made by the device layer, which records its own copies.
#[inline]
pub fn record_copy(device: u32, direction: Direction, bytes: u64) -> Option<Copying> {
    is_on().then(|| Copying {
        started: Started::now(),
        kind: CommandKind::Copy(direction, bytes),
        device,
    })
}

impl Drop for Copying {
    fn drop(&mut self) {
        record_command(self.started.command(self.kind, self.device, 0));
    }
}

/// Records an allocation of device memory, or its end. `describe` returns address and size, the bytes in use after it, the
/// peak, and all bytes of the device.
pub(crate) fn record_memory(
    device: u32,
    is_allocation: bool,
    describe: impl FnOnce() -> (usize, u64, [u64; 3]),
) {
    if !is_on() {
        return;
    }
    let (address, bytes, [in_use, peak, total]) = describe();
    let change = MemoryChange {
        device,
        is_allocation,
        address,
        bytes,
        in_use,
        peak,
        total,
        time: SystemTime::now(),
        thread: current_thread(),
    };
    record(|it| push(&mut it.memory, change));
}

/// Returns the number of this thread, in the order of the threads' first calls, and its line.
fn current_thread() -> Thread {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static THIS: Thread = Thread {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            line: profile_line(),
        };
    }
    THIS.with(|it| *it)
}

impl std::fmt::Debug for Copying {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Copying({:?})", self.kind)
    }
}
