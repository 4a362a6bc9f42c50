//! Exclusive access to ranges of memory.
//!
//! Two operations of different queues that use one range without a fence are an error of the caller, with any order as
//! result. In the driver they must not be a data race, so the later one waits.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A range of addresses that an operation uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The addresses in the driver's mapping.
    pub range: Range<usize>,
    /// True if the operation writes.
    pub writes: bool,
}

/// The ranges in use, by operation.
struct Table {
    active: Vec<(u64, Vec<Access>)>,
    next: u64,
}

static TABLE: Mutex<Table> = Mutex::new(Table {
    active: Vec::new(),
    next: 0,
});
static CHANGED: Condvar = Condvar::new();

/// Access to ranges, until it is dropped.
pub struct Guard(u64);

/// Waits until no other operation has conflicting access, and returns the access. All ranges are acquired at once, so that
/// two operations never wait for each other.
pub fn acquire(wanted: Vec<Access>) -> Guard {
    let conflicts = |table: &mut Table| {
        let mut active = table.active.iter().flat_map(|(_, ranges)| ranges);
        active.any(|used| wanted.iter().any(|access| conflict(used, access)))
    };
    let table = CHANGED.wait_while(lock(), conflicts);
    let mut table = table.unwrap_or_else(PoisonError::into_inner);
    let id = table.next;
    table.next += 1;
    table.active.push((id, wanted));
    Guard(id)
}

impl Drop for Guard {
    fn drop(&mut self) {
        lock().active.retain(|(id, _)| *id != self.0);
        CHANGED.notify_all();
    }
}

fn lock() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn conflict(a: &Access, b: &Access) -> bool {
    (a.writes || b.writes) && overlap(&a.range, &b.range)
}

/// Returns true if two ranges have an address in common.
pub fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}
