//! Streams, events, host callbacks and timers.

use std::ffi::c_void;
use std::sync::Mutex;

use super::session::{CheckSession, CheckedDevice, ensure, expect_equal, pattern};
use crate::StatusCode;
use crate::executor::{DeviceMemoryBlock, EventStatus, StreamHandle, WITH_OPTIONS};
use crate::host_bytes::HostBytes;
use crate::leak_exempt::leak_exempt;
use crate::lock;
use crate::objects;
use crate::outcome::{CheckResult, Stop};
use crate::status_object::StatusObject;

const SIZE: usize = 100_000;

pub(super) fn streams(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    for _ in 0..2 {
        let streams = (0..4)
            .map(|_| device.stream())
            .collect::<Result<Vec<StreamHandle>, Stop>>()?;
        for stream in streams {
            device.executor.stream_status(stream)?;
            device.executor.destroy_stream(stream)?;
        }
    }
    let executor = &device.executor;
    if executor.is_set_and_covered(WITH_OPTIONS) {
        for priority in [0, -1, 1] {
            let stream = executor.create_stream_with_options(Some(priority))?;
            executor.stream_status(stream)?;
            executor.destroy_stream(stream)?;
        }
        executor.destroy_stream(executor.create_plain_stream()?)?;
    }
    Ok("created and destroyed 4 streams at a time, with status OK".into())
}

/// Work on a stream runs in the order in which it was enqueued.
pub(super) fn order(session: &CheckSession<'_>) -> CheckResult {
    const ROUNDS: u8 = 50;
    let device = session.device()?;
    let executor = &device.executor;
    let stream = device.stream()?;
    let memory = device.block(SIZE)?;
    let sources: Vec<Vec<u8>> = (0..ROUNDS).map(|seed| pattern(SIZE, seed)).collect();
    let mut back = Vec::new();
    for source in &sources {
        let target = HostBytes::poisoned(SIZE);
        executor.htod(stream, memory, HostBytes::new(source))?;
        executor.dtoh(stream, target, memory)?;
        back.push(target);
    }
    executor.poll(stream)?;
    for (source, back) in sources.iter().zip(&back) {
        let found = back.to_vec();
        expect_equal("a copy out enqueued after a copy in", &found, source)?;
    }
    device.executor.destroy_stream(stream)?;
    device.executor.free(memory)?;
    Ok(format!(
        "{ROUNDS} copies in and out on one stream ran in order"
    ))
}

/// Work on a stream runs after the work of the streams that it depends on.
pub(super) fn dependency(session: &CheckSession<'_>) -> CheckResult {
    const ROUNDS: u8 = 50;
    let device = session.device()?;
    let executor = &device.executor;
    let (first, second) = (device.stream()?, device.stream()?);
    let memory = device.block(SIZE)?;
    for seed in 0..ROUNDS {
        let source = pattern(SIZE, seed);
        let back = HostBytes::poisoned(SIZE);
        executor.htod(first, memory, HostBytes::new(&source))?;
        executor.depend(second, first)?;
        executor.dtoh(second, back, memory)?;
        executor.poll(second)?;
        let (what, found) = ("a copy on a stream that depends on another", back.to_vec());
        expect_equal(what, &found, &source)?;
    }
    device.executor.destroy_stream(first)?;
    device.executor.destroy_stream(second)?;
    device.executor.free(memory)?;
    Ok(format!(
        "{ROUNDS} copies ran after those of the stream that they depend on"
    ))
}

/// An event is complete once the work before it is done, for all functions that query or wait for it.
pub(super) fn events(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let executor = &device.executor;
    let (first, second) = (device.stream()?, device.stream()?);
    let memory = device.block(SIZE)?;
    let source = pattern(SIZE, 9);
    let (host_source, back) = (HostBytes::new(&source), HostBytes::poisoned(SIZE));
    let event = executor.create_event()?;
    for _ in 0..2 {
        executor.htod(first, memory, host_source)?;
        executor.record_event(first, event)?;
        executor.wait_for_event(second, event)?;
        executor.dtoh(second, back, memory)?;
        executor.block_for_event(event)?;
        let status = executor.event_status(event)?;
        ensure(status == EventStatus::Complete, || {
            format!("after block_host_for_event: {status:?}")
        })?;
        executor.poll(second)?;
        expect_equal("a copy behind wait_for_event", &back.to_vec(), &source)?;
    }
    executor.destroy_event(event)?;
    executor.destroy_stream(first)?;
    executor.destroy_stream(second)?;
    executor.free(memory)?;
    Ok("recorded, waited for and polled an event twice".into())
}

/// Both functions that wait for all enqueued work.
pub(super) fn waits(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let executor = &device.executor;
    let stream = device.stream()?;
    let memory = device.block(SIZE)?;
    let mut waited = vec!["synchronize_all_activity"];
    // With nothing to wait for.
    executor.synchronize()?;
    enqueued(&device, stream, memory, 5, || executor.synchronize())?;
    if executor.has("block_host_until_done") {
        waited.push("block_host_until_done");
        enqueued(&device, stream, memory, 6, || {
            executor.block_until_done(stream)
        })?;
    }
    executor.destroy_stream(stream)?;
    executor.free(memory)?;
    Ok(format!("{} waited for all work", waited.join(" and ")))
}

fn enqueued(
    device: &CheckedDevice,
    stream: StreamHandle,
    memory: DeviceMemoryBlock,
    seed: u8,
    wait: impl FnOnce() -> Result<(), crate::Error>,
) -> Result<(), Stop> {
    let (executor, source) = (&device.executor, pattern(SIZE, seed));
    let back = HostBytes::poisoned(SIZE);
    executor.htod(stream, memory, HostBytes::new(&source))?;
    executor.dtoh(stream, back, memory)?;
    wait()?;
    expect_equal("a copy that was waited for", &back.to_vec(), &source)
}

/// The calls of the callbacks of one check.
#[derive(Default)]
struct CallbackCalls {
    order: Mutex<Vec<usize>>,
    faults: Mutex<Vec<String>>,
}

/// The argument of one callback.
struct CallbackArgument {
    number: usize,
    calls: &'static CallbackCalls,
}

unsafe extern "C" fn on_call(argument: *mut c_void, status: *mut c_void) {
    // SAFETY: the host enqueued this function with a leak-exempt `CallbackArgument`.
    let callback_argument = unsafe { &*argument.cast::<CallbackArgument>() };
    let mut order = lock(&callback_argument.calls.order);
    order.push(callback_argument.number);
    let status_object = status.cast::<StatusObject>();
    if objects::with_object(status_object, |_| ()).is_none() {
        let mut faults = lock(&callback_argument.calls.faults);
        faults.push(format!(
            "callback {} got {status:p}, which is not a live TF_Status",
            callback_argument.number
        ));
    }
    // An error status of one callback does not stop the others.
    if callback_argument.number == 7 {
        objects::with_object(status_object, |status| {
            status.set(StatusCode::ABORTED, "this callback failed");
        });
    }
}

pub(super) fn host_callbacks(session: &CheckSession<'_>) -> CheckResult {
    const COUNT: usize = 100;
    let device = session.device()?;
    let stream = device.stream()?;
    // The plugin may call a callback after this function has returned.
    let calls: &'static CallbackCalls = leak_exempt(CallbackCalls::default());
    let before = objects::undeleted_statuses();
    let callback_arguments: Vec<CallbackArgument> = (0..COUNT)
        .map(|number| CallbackArgument { number, calls })
        .collect();
    for callback_argument in leak_exempt(callback_arguments) {
        let argument = std::ptr::from_ref(callback_argument).cast_mut().cast();
        let executor = &device.executor;
        // SAFETY: the argument is a leak-exempt `CallbackArgument`, which `on_call` reads.
        let taken = unsafe { executor.host_callback(stream, on_call, argument) }?;
        let number = callback_argument.number;
        ensure(taken, || {
            format!("host_callback returned false for number {number}")
        })?;
    }
    device.executor.poll(stream)?;
    calls.check(COUNT)?;
    let leaked = objects::undeleted_statuses().saturating_sub(before);
    ensure(leaked == 0, || {
        format!("{leaked} TF_Status were never deleted")
    })?;
    device.executor.destroy_stream(stream)?;
    Ok(format!("{COUNT} callbacks ran once each, in order"))
}

impl CallbackCalls {
    fn check(&self, count: usize) -> Result<(), Stop> {
        let order = lock(&self.order);
        let ran = order.len();
        ensure(ran == count, || format!("{ran} of {count} callbacks ran"))?;
        if let Some((position, number)) =
            order.iter().enumerate().find(|(at, number)| at != *number)
        {
            let text = format!("number {number} ran out of order, at position {position}");
            return Err(Stop::Fail(text));
        }
        let faults = lock(&self.faults);
        ensure(faults.is_empty(), || faults[0].clone())
    }
}

/// A longer task has a longer time.
pub(super) fn timers(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let executor = &device.executor;
    let Some(functions) = device.platform.timer_fns()? else {
        return Err(Stop::Skip("the plugin has no timer functions".into()));
    };
    let stream = device.stream()?;
    let timer = executor.create_timer()?;
    let measure = |pause| {
        executor.start_timer(stream, timer)?;
        executor.poll(stream)?;
        std::thread::sleep(std::time::Duration::from_millis(pause));
        executor.stop_timer(stream, timer)?;
        executor.poll(stream)?;
        executor.nanoseconds(&functions, timer)
    };
    let long = measure(20)?;
    // A busy machine may interrupt the empty measurement, so the least of some counts.
    let mut short = measure(0)?;
    for _ in 0..20 {
        if short < long {
            break;
        }
        short = short.min(measure(0)?);
    }
    executor.destroy_timer(timer)?;
    executor.destroy_stream(stream)?;
    device.platform.destroy_timer_fns(&functions)?;
    ensure(long >= 20_000_000, || {
        format!("the timer measured {long} ns for 20 ms")
    })?;
    ensure(short < long, || {
        format!("the timer measured {short} ns for no work and {long} ns for 20 ms")
    })?;
    Ok(format!(
        "measured {short} ns for no work and {long} ns for 20 ms"
    ))
}
