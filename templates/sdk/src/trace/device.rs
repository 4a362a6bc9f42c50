//! The open devices that have queues, with the clock of each beside the host's.
//!
//! The host records a fence on an idle queue and waits for it: the time of the device's clock at the fence lies between two
//! times of the host. The shortest of several intervals gives the offset of the clocks; one at the start and one at the end
//! of the session give the drift.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use crate::device::DeviceProperties;

/// The shortest session whose drift is measured.
const DRIFT_INTERVAL: Duration = Duration::from_millis(10);

/// A device with queues.
pub(crate) trait TracedDevice: Send + Sync {
    /// Returns the device's ordinal.
    fn ordinal(&self) -> u32;

    /// Returns a time of both clocks; `None` if the device has no clock, or does not complete a fence in time.
    fn sample(&self) -> Option<ClockSample>;

    /// Forgets the commands that have not been recorded.
    fn discard(&self);

    /// Records the commands that have completed, and waits for the others a limited time.
    fn finish(&self);
}

/// A time of a device's clock, and the host's at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockSample {
    pub device: Duration,
    pub host: SystemTime,
    /// Half of the interval in which the host's time is.
    pub uncertainty: Duration,
}

/// The clocks at the start and the end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockPair {
    pub device: u32,
    pub first: ClockSample,
    pub last: ClockSample,
}

impl ClockPair {
    /// Converts a time of the device's clock to the host's.
    pub fn to_host(self, time: Duration) -> SystemTime {
        let first = self.first;
        match time.checked_sub(first.device) {
            Some(later) => first.host + self.to_host_duration(later),
            None => first.host - self.to_host_duration(first.device - time),
        }
    }

    /// Converts a duration of the device's clock to the host's.
    pub fn to_host_duration(self, duration: Duration) -> Duration {
        duration.mul_f64(self.rate())
    }

    /// Returns the seconds of the host in a second of the device's clock.
    pub fn rate(self) -> f64 {
        let device = self.last.device.saturating_sub(self.first.device);
        let host = self.last.host.duration_since(self.first.host);
        match host {
            Ok(host) if device >= DRIFT_INTERVAL => host.as_secs_f64() / device.as_secs_f64(),
            _ => 1.0,
        }
    }

    // since 2.7
    /// Returns the nanoseconds since 1970 at which the device's clock was 0.
    pub fn offset(self) -> i64 {
        let host = self.first.host.duration_since(SystemTime::UNIX_EPOCH);
        let host = nanoseconds(host.unwrap_or_default()).cast_signed();
        host.wrapping_sub(nanoseconds(self.first.device).cast_signed())
    }
}

static DEVICES: Mutex<Vec<Weak<dyn TracedDevice>>> = Mutex::new(Vec::new());

/// The properties that the devices have stated, by ordinal.
static PROPERTIES: Mutex<BTreeMap<u32, DeviceProperties>> = Mutex::new(BTreeMap::new());

fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a device. It is open until it is dropped.
pub(crate) fn insert(device: Weak<dyn TracedDevice>) {
    let mut devices = lock(&DEVICES);
    devices.retain(|it| it.strong_count() > 0);
    devices.push(device);
}

/// Stores what a device states of itself.
pub(crate) fn set_properties(ordinal: u32, properties: DeviceProperties) {
    lock(&PROPERTIES).insert(ordinal, properties);
}

// since 2.7
/// Returns what a device has stated of itself.
pub(crate) fn properties(ordinal: u32) -> DeviceProperties {
    lock(&PROPERTIES).get(&ordinal).copied().unwrap_or_default()
}

fn devices() -> Vec<Arc<dyn TracedDevice>> {
    lock(&DEVICES).iter().filter_map(Weak::upgrade).collect()
}

/// Forgets the commands of an earlier session that was not collected.
pub(super) fn discard() {
    devices().iter().for_each(|it| it.discard());
}

/// Reads the clocks of all devices.
pub(super) fn start_clocks() -> Vec<ClockPair> {
    let pair = |it: Arc<dyn TracedDevice>| {
        let first = it.sample()?;
        Some(ClockPair {
            device: it.ordinal(),
            first,
            last: first,
        })
    };
    devices().into_iter().filter_map(pair).collect()
}

/// Reads the clocks again. A device that was opened meanwhile has one time for start and end.
pub(super) fn stop_clocks(clocks: &mut Vec<ClockPair>) {
    for device in devices() {
        let Some(last) = device.sample() else {
            continue;
        };
        let ordinal = device.ordinal();
        match clocks.iter_mut().find(|it| it.device == ordinal) {
            Some(pair) => pair.last = last,
            None => clocks.push(ClockPair {
                device: ordinal,
                first: last,
                last,
            }),
        }
    }
}

/// Records the commands of the session that have not been recorded.
pub(super) fn finish() {
    devices().iter().for_each(|it| it.finish());
}

// since 2.7
/// Converts a duration to nanoseconds.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(device: u64, host: u64) -> ClockSample {
        ClockSample {
            device: Duration::from_millis(device),
            host: SystemTime::UNIX_EPOCH + Duration::from_millis(host),
            uncertainty: Duration::ZERO,
        }
    }

    #[test]
    fn device_time_is_converted_with_offset_and_drift() {
        let pair = ClockPair {
            device: 0,
            first: sample(100, 5_000),
            last: sample(1_100, 7_000),
        };
        assert_eq!(pair.rate(), 2.0);
        let host = |ms| SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
        assert_eq!(pair.to_host(Duration::from_millis(600)), host(6_000));
        assert_eq!(pair.to_host(Duration::from_millis(50)), host(4_900));
        assert_eq!(pair.offset(), 4_900_000_000);
    }

    #[test]
    fn drift_of_short_session_is_not_measured() {
        let pair = ClockPair {
            device: 0,
            first: sample(100, 5_000),
            last: sample(101, 5_900),
        };
        assert_eq!(pair.rate(), 1.0);
    }
}
