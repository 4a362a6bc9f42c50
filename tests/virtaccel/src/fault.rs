//! Planned failures, from `va_inject` and the environment.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::abi::{Result, Status};
use crate::settings::{self, Settings};

/// A failure that can be planned: `va_fault`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The n-th allocation fails.
    Allocation,
    /// The n-th launch fails when it runs.
    Launch,
    /// The n-th launch never ends.
    Hang,
    /// Every copy takes at least n microseconds.
    SlowCopy,
    /// Each operation starts up to n microseconds late.
    Jitter,
}

const FAULTS: [(Fault, &str); 5] = [
    (Fault::Allocation, "FAIL_ALLOC"),
    (Fault::Launch, "FAIL_LAUNCH"),
    (Fault::Hang, "HANG_LAUNCH"),
    (Fault::SlowCopy, "SLOW_COPY"),
    (Fault::Jitter, "JITTER"),
];

fn values() -> &'static [AtomicU64; FAULTS.len()] {
    static VALUES: OnceLock<[AtomicU64; FAULTS.len()]> = OnceLock::new();
    VALUES.get_or_init(|| FAULTS.map(|(_, name)| settings::number(name).unwrap_or(0).into()))
}

/// Plans the failure with the number `fault` of `va_fault`; 0 cancels all of them.
pub fn inject(fault: i32, n: u64) -> Result {
    if fault == 0 {
        values()
            .iter()
            .for_each(|value| value.store(0, Ordering::Relaxed));
        return Ok(());
    }
    let index = usize::try_from(fault - 1).map_err(|_| Status::INVALID_VALUE)?;
    let value = values().get(index).ok_or(Status::INVALID_VALUE)?;
    value.store(n, Ordering::Relaxed);
    Ok(())
}

impl Fault {
    fn value(self) -> &'static AtomicU64 {
        &values()[self as usize]
    }

    /// Counts one event. Returns true for the n-th.
    pub fn count_event(self) -> bool {
        let count = |left: u64| left.checked_sub(1);
        let ordering = Ordering::Relaxed;
        self.value().fetch_update(ordering, ordering, count) == Ok(1)
    }

    /// Returns the planned number of microseconds.
    pub fn microseconds(self) -> u64 {
        self.value().load(Ordering::Relaxed)
    }
}

/// Random delays of one thread (xorshift).
pub struct Delays(u64);

impl Delays {
    /// Returns the delays of the thread with this number.
    pub fn new(thread: u64) -> Self {
        let seed = Settings::get().seed.wrapping_add(thread);
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number of microseconds up to that of [`Fault::Jitter`].
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        match Fault::Jitter.microseconds() {
            0 => 0,
            limit => self.0 % (limit.saturating_add(1)),
        }
    }
}
