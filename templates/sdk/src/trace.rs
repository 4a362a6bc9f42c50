//! A recorder of what a plugin does while a profile runs, for profilers: calls of kernels, commands of queues, waits, device
//! memory, graph passes.
//!
//! Recording is off until [`start`]; until then it costs a kernel's call one atomic load.
//!
//! | module | content |
//! |---|---|
//! | `event` | what is recorded |
//! | `scope` | activities of a thread in progress |
//! | `device` | open devices, and the clock of each beside the host's |

pub(crate) mod device;
mod event;
mod scope;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sp_runtime::fork::OwnerProcess;

pub use self::event::{
    Activity, ActivityKind, Clock, Command, CommandKind, Direction, KernelCall, KernelSource,
    MemoryChange, Recording,
};
pub(crate) use self::scope::{
    ActiveActivity, ActiveCall, CallDetails, OpenScope, Started, begin, begin_activity,
    record_memory,
};
pub use self::scope::{Copying, opening_device, record_copy};

/// Limit for the number of recorded events, so that a session that is never stopped does not use all memory.
const MAX_EVENTS: usize = 1 << 20;

static ON: AtomicBool = AtomicBool::new(false);
/// The process of the session. In a forked child another thread may have had the lock of the recording for ever.
static PROCESS: OwnerProcess = OwnerProcess::new();
static RECORDING: Mutex<Recording> = Mutex::new(Recording::new());

fn recording() -> MutexGuard<'static, Recording> {
    RECORDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true while a session records.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed) && PROCESS.check("the profile").is_ok()
}

/// Discards what was recorded and starts recording. Devices with a clock are asked for its time.
pub fn start() {
    device::discard();
    *recording() = Recording::new();
    let clocks = device::start_clocks();
    recording().clocks = clocks;
    PROCESS.set_current();
    ON.store(true, Ordering::Relaxed);
}

/// Stops recording. A call that is in progress is still recorded when it returns.
pub fn stop() {
    if is_on() && ON.swap(false, Ordering::Relaxed) {
        let mut clocks = std::mem::take(&mut recording().clocks);
        device::stop_clocks(&mut clocks);
        recording().clocks = clocks;
    }
}

/// Removes and returns what was recorded. It waits for the commands of the session, whose times the devices then have.
pub fn take() -> Recording {
    device::finish();
    let mut recorded = std::mem::take(&mut *recording());
    recorded.align();
    recorded
}

/// Removes and returns the recorded calls of kernels, in the order in which they returned.
pub fn take_calls() -> Vec<KernelCall> {
    std::mem::take(&mut recording().kernels)
}

/// Adds an event, unless the limit is reached.
fn record(add: impl FnOnce(&mut Recording)) {
    let mut recording = recording();
    if recording.len() >= MAX_EVENTS {
        return;
    }
    add(&mut recording);
    if recording.len() >= MAX_EVENTS {
        sp_runtime::report!(
            Warn,
            "the trace has reached its limit of {MAX_EVENTS} events; later ones are not recorded: profile fewer steps"
        );
    }
}

/// Adds a command of a queue.
pub(crate) fn record_command(command: Command) {
    record(|it| push(&mut it.commands, command));
}

/// Appends to a list that grows by a quarter: `Vec` doubles, which is memory of the program that is profiled.
fn push<T>(list: &mut Vec<T>, item: T) {
    const FIRST: usize = 64;
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 4).max(FIRST));
    }
    list.push(item);
}

/// Returns a number that no other event has. The library's address is in it: events of two plugins are in one profile.
fn next_correlation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    const PAGE_BITS: u32 = 12;
    let library = ((&raw const NEXT).addr() as u64 >> PAGE_BITS) & 0xff_ffff;
    library << 32 | (NEXT.fetch_add(1, Ordering::Relaxed) & 0xffff_ffff)
}

#[cfg(test)]
mod tests;
