//! Devices: memory accounting and clocks.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::abi::{Result, Status};
use crate::fault::Fault;
use crate::settings::Settings;

/// A device.
pub struct Device {
    /// Its number.
    pub ordinal: u32,
    usage: Mutex<Usage>,
}

/// Bytes of memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// Allocated now.
    pub used: u64,
    /// The largest `used` so far.
    pub peak: u64,
}

/// Returns the devices of this machine.
pub fn all() -> &'static [Arc<Device>] {
    static DEVICES: OnceLock<Vec<Arc<Device>>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let ordinals = 0..Settings::get().devices;
        let new = |ordinal| Device {
            ordinal,
            usage: Mutex::default(),
        };
        ordinals.map(|ordinal| Arc::new(new(ordinal))).collect()
    })
}

/// Returns nanoseconds since the driver's first call of this function.
pub fn clock() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

impl Device {
    /// Returns the bytes in use.
    pub fn usage(&self) -> Usage {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves `size` bytes, unless the device has less or the allocation was planned to fail.
    pub fn reserve(&self, size: u64) -> Result {
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        let used = usage.used.saturating_add(size);
        if Fault::Allocation.count_event() || used > Settings::get().memory {
            return Err(Status::OUT_OF_MEMORY);
        }
        usage.used = used;
        usage.peak = usage.peak.max(used);
        Ok(())
    }

    /// Releases `size` reserved bytes.
    pub fn release(&self, size: u64) {
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        usage.used = usage.used.saturating_sub(size);
    }
}
