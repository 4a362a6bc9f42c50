//! Events: readiness, callbacks, and events of the host.

use std::time::Duration;

use sp_host::child_checks::{CheckResult, Stop};

use super::buffer_life::{any, expect_own_error};
use crate::buffer::{HostArray, ensure, wait};
use crate::call::{Calls, record_call};
use crate::plugin::Plugin;
use crate::session::Session;

/// Adds a callback to an event.
fn on_ready(plugin: &Plugin<'_>, event: u64) -> Result<&'static Calls, Stop> {
    let calls = Calls::leaked();
    let set = [
        ("event", event),
        ("callback", record_call as *const () as u64),
        ("user_arg", calls.address()),
    ];
    plugin.call("Event_OnReady", &set)?;
    Ok(calls)
}

fn destroy(plugin: &Plugin<'_>, event: u64) -> Result<(), Stop> {
    plugin.call("Event_Destroy", &[("event", event)]).map(drop)
}

fn is_ready(plugin: &Plugin<'_>, event: u64) -> Result<bool, Stop> {
    let args = plugin.call("Event_IsReady", &[("event", event)])?;
    args.flag("is_ready")
}

/// The event of a buffer is ready after it was awaited, without an error, and a buffer gives several events.
pub(super) fn ready(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let plugin = device.plugin();
    let buffer = any(&device)?;
    let (event, other) = (buffer.ready_event()?, buffer.ready_event()?);
    for _ in 0..2 {
        let waited = plugin.try_call("Event_Await", &[("event", event)])?;
        ensure(waited.is_ok(), || {
            "the event of a buffer has an error".into()
        })?;
    }
    ensure(is_ready(plugin, event)?, || {
        "an event is not ready after PJRT_Event_Await".into()
    })?;
    plugin.call("Event_Error", &[("event", event)])?;
    destroy(plugin, event)?;
    let waited = wait(plugin, other)?;
    ensure(waited.is_ok(), || {
        "a second event of a buffer has an error".into()
    })?;
    buffer.destroy()?;
    Ok("2 events of a buffer".into())
}

/// An event outlives its buffer.
pub(super) fn outlives_buffer(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let buffer = any(&device)?;
    let event = buffer.ready_event()?;
    buffer.destroy()?;
    let waited = wait(device.plugin(), event)?;
    ensure(waited.is_ok(), || {
        "the event of a destroyed buffer has an error".into()
    })?;
    Ok("an event was awaited after its buffer was destroyed".into())
}

/// A callback runs once, without an error, also if the event is ready before.
pub(super) fn callbacks(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let plugin = device.plugin();
    let buffer = any(&device)?;
    let event = buffer.ready_event()?;
    let first = on_ready(plugin, event)?;
    ensure(first.wait(), || {
        "a callback of a ready buffer does not run".into()
    })?;
    let later = on_ready(plugin, event)?;
    ensure(later.wait(), || {
        "a callback of a ready event does not run".into()
    })?;
    destroy(plugin, event)?;
    buffer.destroy()?;
    std::thread::sleep(Duration::from_millis(20));
    for calls in [first, later] {
        ensure(calls.count() == 1, || {
            format!("a callback ran {} times", calls.count())
        })?;
        ensure(calls.first() == 0, || "a callback got an error".into())?;
    }
    Ok("2 callbacks, once each".into())
}

/// Callbacks of copies run once each, and after their event is destroyed at the latest.
pub(super) fn callbacks_of_copies(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let plugin = device.plugin();
    let array = HostArray::counting(&[1 << 16]);
    let buffer = device.put(&array)?;
    let mut copies = vec![];
    for _ in 0..8 {
        copies.push(copy_with_callback(
            plugin,
            buffer.handle,
            array.bytes.len(),
        )?);
    }
    for (calls, bytes) in &copies {
        ensure(calls.wait(), || {
            "a callback does not run if its event is destroyed before".into()
        })?;
        crate::buffer::expect_bytes(bytes, &array.bytes, "a copy whose callback has run")?;
    }
    std::thread::sleep(Duration::from_millis(20));
    let counts: Vec<usize> = copies.iter().map(|(calls, _)| calls.count()).collect();
    ensure(counts.iter().all(|count| *count == 1), || {
        format!("8 callbacks ran {counts:?} times")
    })?;
    buffer.destroy()?;
    Ok("8 callbacks, once each".into())
}

/// Starts a copy to the host with a callback, and destroys its event at once.
fn copy_with_callback(
    plugin: &Plugin<'_>,
    buffer: u64,
    size: usize,
) -> Result<(&'static Calls, Vec<u8>), Stop> {
    let mut bytes = vec![0_u8; size];
    let set = [
        ("src", buffer),
        ("dst", bytes.as_mut_ptr() as u64),
        ("dst_size", size as u64),
    ];
    let args = plugin.call("Buffer_ToHostBuffer", &set)?;
    let event = args.pointer("event")?;
    let calls = on_ready(plugin, event)?;
    destroy(plugin, event)?;
    Ok((calls, bytes))
}

fn new_event(plugin: &Plugin<'_>) -> Result<u64, Stop> {
    plugin.call("Event_Create", &[])?.pointer("event")
}

/// Sets an event of the host, with an error if `message` is not empty.
fn set_event(plugin: &Plugin<'_>, event: u64, message: &str) -> Result<(), Stop> {
    let code = if message.is_empty() { 0 } else { 13 };
    let set = [
        ("event", event),
        ("error_code", code),
        ("error_message", message.as_ptr() as u64),
        ("error_message_size", message.len() as u64),
    ];
    plugin.call("Event_Set", &set).map(drop)
}

/// An event of the host is ready once it is set, and its callbacks run then, in order.
pub(super) fn of_the_host(session: &Session<'_>) -> CheckResult {
    let plugin = session.plugin()?;
    let event = new_event(&plugin)?;
    ensure(!is_ready(&plugin, event)?, || "a new event is ready".into())?;
    let calls = [on_ready(&plugin, event)?, on_ready(&plugin, event)?];
    std::thread::sleep(Duration::from_millis(20));
    ensure(calls.iter().all(|it| it.count() == 0), || {
        "a callback ran before its event was set".into()
    })?;
    set_event(&plugin, event, "")?;
    for calls in calls {
        ensure(calls.wait(), || {
            "a callback does not run after its event was set".into()
        })?;
        ensure(calls.first() == 0, || "a callback got an error".into())?;
    }
    let waited = wait(&plugin, event)?;
    ensure(waited.is_ok(), || {
        "an event that was set has an error".into()
    })?;
    ensure(calls.iter().all(|it| it.count() == 1), || {
        "a callback ran twice".into()
    })?;
    Ok(match calls[0].order() < calls[1].order() {
        true => "2 callbacks, in order".into(),
        false => "2 callbacks, the last one first".into(),
    })
}

/// The error of an event is that of its callbacks, of PJRT_Event_Await and of PJRT_Event_Error.
pub(super) fn with_error(session: &Session<'_>) -> CheckResult {
    let plugin = session.plugin()?;
    let message = "sp-gen has failed";
    let event = new_event(&plugin)?;
    let calls = on_ready(&plugin, event)?;
    set_event(&plugin, event, message)?;
    ensure(calls.wait(), || {
        "a callback of an event in error does not run".into()
    })?;
    // The callback owns the error.
    let error = match calls.first() {
        0 => None,
        error => Some(plugin.take_error(error)?),
    };
    expect_own_error(error, message, "a callback of an event in error")?;
    for function in ["Event_Await", "Event_Error"] {
        let called = plugin.try_call(function, &[("event", event)])?;
        expect_own_error(called.err(), message, &format!("PJRT_{function}"))?;
    }
    destroy(&plugin, event)?;
    Ok("the same error from callback, await and query".into())
}

/// PJRT_Event_Await on another thread returns once the event is set.
pub(super) fn awaited_on_thread(session: &Session<'_>) -> CheckResult {
    let plugin = session.plugin()?;
    let event = new_event(&plugin)?;
    let waited = std::thread::scope(|scope| {
        let awaiting = scope.spawn(|| plugin.try_call("Event_Await", &[("event", event)]));
        std::thread::sleep(Duration::from_millis(30));
        let early = awaiting.is_finished();
        set_event(&plugin, event, "")?;
        let waited = awaiting.join();
        let waited = waited.map_err(|_| Stop::Fail("the thread panicked".into()))??;
        Ok::<_, Stop>((early, waited.is_ok()))
    })?;
    ensure(waited == (false, true), || match waited {
        (true, _) => "PJRT_Event_Await returned before the event was set".into(),
        _ => "PJRT_Event_Await returned an error".into(),
    })?;
    destroy(&plugin, event)?;
    Ok("a thread waited".into())
}
