//! Checks of what a profiler does without a device, in long sessions, over many sessions, and with a small buffer.

use std::time::{Duration, Instant};

use super::lifetime::{expect_no_growth, in_use};
use super::profiler_session::{Workload, count_events, host, profiler, record};
use super::session::{CheckSession, ensure, skip_unregistered};
use crate::child;
use crate::host::{register_checked_profiler, register_platform};
use crate::outcome::{CheckResult, Stop};
use crate::plugin::LoadedPlugin;

/// The number of calls in a long session, and of sessions, unless they take too much of the time limit.
const CALLS: usize = 20_000;
const SESSIONS: usize = 1000;

/// The number of measurements over which sessions are distributed.
const MEASUREMENTS: usize = 4;

/// The accepted number of bytes for each call of a session, and for the session. A call has a kernel and copies of its inputs and
/// results, and each of them an event on the device and one on the host, and fences of the driver until it has ended.
const BYTES_OF_CALL: usize = 4096;
const BYTES_OF_SESSION: usize = 1 << 20;

/// Returns the time that a check spends on sessions.
fn budget() -> Duration {
    child::limit() / 4
}

/// A session without a device has no data; one without a created device has no events.
pub(super) fn without_device(session: &CheckSession<'_>) -> CheckResult {
    let plugin = session.with("TF_InitProfiler")?;
    let devices = device_count(&plugin)?;
    let profiler = register_checked_profiler(&plugin).map_err(skip_unregistered)?;
    let bytes = record(&profiler, || Ok(()))?;
    let (len, events) = (bytes.len(), count_events(&bytes));
    ensure(len == 0 || devices != Some(0), || {
        format!("a session without a device has {len} bytes of data")
    })?;
    ensure(events == 0, || {
        format!("{events} events in a session in which no device was created")
    })?;
    Ok("a session in which no device was created has no events".into())
}

/// Returns the number of devices, or `None` if they are another plugin's.
fn device_count(plugin: &LoadedPlugin) -> Result<Option<i32>, Stop> {
    if !plugin.entry_points().contains(&"SE_InitPlugin") {
        return Ok(None);
    }
    let platform = register_platform(plugin).map_err(skip_unregistered)?;
    // TensorFlow sees no device if they cannot be counted.
    Ok(Some(platform.visible_devices().unwrap_or(0)))
}

/// The memory of a long session is limited for each call that it records.
pub(super) fn memory(session: &CheckSession<'_>) -> CheckResult {
    let host = host(session)?;
    let (profiler, workload) = (profiler(&host)?, Workload::new(&host));
    (0..10).try_for_each(|_| workload.run())?;
    let (mut calls, mut held) = (0, 0);
    let bytes = record(profiler, || {
        let (before, start) = (in_use(), Instant::now());
        while calls < CALLS && start.elapsed() < budget() {
            workload.run()?;
            calls += 1;
        }
        held = in_use().saturating_sub(before);
        Ok(())
    })?;
    let (name, limit) = (workload.name(), calls * BYTES_OF_CALL + BYTES_OF_SESSION);
    for (what, size) in [("memory", held), ("data", bytes.len())] {
        ensure(size <= limit, || {
            let each = size / calls.max(1);
            format!(
                "a session with {calls} {name} took {size} bytes of {what}, {each} for each; the limit is {limit}"
            )
        })?;
    }
    host.close()?;
    let len = bytes.len();
    Ok(format!(
        "a session with {calls} {name} took {held} bytes of memory and has {len} bytes of data"
    ))
}

/// Sessions leave no memory or threads behind.
pub(super) fn leaks(session: &CheckSession<'_>) -> CheckResult {
    let host = host(session)?;
    let (profiler, workload) = (profiler(&host)?, Workload::new(&host));
    let life_cycle = || record(profiler, || workload.run()).map(drop);
    let start = Instant::now();
    life_cycle()?;
    let fitting = budget().as_nanos() / start.elapsed().as_nanos().max(1);
    let sessions = usize::try_from(fitting).map_or(SESSIONS, |it| it.clamp(100, SESSIONS));
    expect_no_growth("a session", sessions / MEASUREMENTS, life_cycle)?;
    host.close()?;
    Ok(format!(
        "{sessions} sessions left no memory or threads behind"
    ))
}

/// A buffer that is smaller than the data is not overrun, and the next session has data.
pub(super) fn small_buffer(session: &CheckSession<'_>) -> CheckResult {
    let host = host(session)?;
    let (profiler, workload) = (profiler(&host)?, Workload::new(&host));
    profiler.start()?;
    workload.run()?;
    profiler.stop()?;
    let size = profiler.data_size()?;
    if size == 0 {
        let text = format!("a session with {} has no data", workload.name());
        return Err(Stop::Skip(text));
    }
    // The plugin may report an error, which TensorFlow discards.
    let is_error = profiler.collect_into(size - 1).is_err();
    let next = record(profiler, || workload.run())?;
    ensure(!next.is_empty(), || {
        "a session has no data after one whose buffer was too small".into()
    })?;
    host.close()?;
    let result = match is_error {
        true => "an error",
        false => "success",
    };
    Ok(format!(
        "{size} bytes of data and a buffer of one less: {result}, and nothing past the buffer"
    ))
}
