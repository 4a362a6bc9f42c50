//! Streams, events, host callbacks and timers.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use super::session::{Device, Session, ensure, pattern, same};
use crate::Code;
use crate::core::status::Status;
use crate::executor::{EventStatus, Stream, WITH_OPTIONS};
use crate::leak_exempt::keep;
use crate::objects::{self, Kind, Tally};
use crate::outcome::{Seen, Stop};

const SIZE: usize = 100_000;

pub(super) fn streams(session: &Session<'_>) -> Seen {
    let device = session.device()?;
    for _ in 0..2 {
        let streams = (0..4)
            .map(|_| device.stream())
            .collect::<Result<Vec<Stream>, Stop>>()?;
        for stream in streams {
            device.executor.stream_status(stream)?;
            device.executor.destroy_stream(stream)?;
        }
    }
    let executor = &device.executor;
    if executor.reaches(WITH_OPTIONS) {
        for priority in [0, -1, 1] {
            let stream = executor.create_stream_with_options(Some(priority))?;
            executor.stream_status(stream)?;
            executor.destroy_stream(stream)?;
        }
        executor.destroy_stream(executor.create_plain_stream()?)?;
    }
    Ok("4 at a time, status OK, created and destroyed twice".into())
}

/// What is enqueued later happens later.
pub(super) fn order(session: &Session<'_>) -> Seen {
    const ROUNDS: u8 = 50;
    let device = session.device()?;
    let stream = device.stream()?;
    let memory = device.block(SIZE)?;
    let sources: Vec<Vec<u8>> = (0..ROUNDS).map(|seed| pattern(SIZE, seed)).collect();
    let mut back = vec![vec![0; SIZE]; sources.len()];
    for (source, back) in sources.iter().zip(&mut back) {
        device.executor.htod(stream, memory, source)?;
        device.executor.dtoh(stream, back, memory)?;
    }
    device.executor.poll(stream)?;
    for (source, back) in sources.iter().zip(&back) {
        same("a copy out enqueued after a copy in", back, source)?;
    }
    device.executor.destroy_stream(stream)?;
    device.executor.free(memory)?;
    Ok(format!("{ROUNDS} copies in and out, enqueued at once"))
}

/// A stream that depends on another sees what that one did.
pub(super) fn dependency(session: &Session<'_>) -> Seen {
    const ROUNDS: u8 = 50;
    let device = session.device()?;
    let (first, second) = (device.stream()?, device.stream()?);
    let memory = device.block(SIZE)?;
    for seed in 0..ROUNDS {
        let source = pattern(SIZE, seed);
        let mut back = vec![0; SIZE];
        device.executor.htod(first, memory, &source)?;
        device.executor.depend(second, first)?;
        device.executor.dtoh(second, &mut back, memory)?;
        device.executor.poll(second)?;
        same("a copy on a stream that depends on another", &back, &source)?;
    }
    device.executor.destroy_stream(first)?;
    device.executor.destroy_stream(second)?;
    device.executor.free(memory)?;
    Ok(format!("{ROUNDS} copies from stream to stream"))
}

/// An event is complete once what stood before it is done, for every way of asking.
pub(super) fn events(session: &Session<'_>) -> Seen {
    let device = session.device()?;
    let executor = &device.executor;
    let (first, second) = (device.stream()?, device.stream()?);
    let memory = device.block(SIZE)?;
    let source = pattern(SIZE, 9);
    let mut back = vec![0; SIZE];
    let event = executor.create_event()?;
    for _ in 0..2 {
        executor.htod(first, memory, &source)?;
        executor.record_event(first, event)?;
        executor.wait_for_event(second, event)?;
        executor.dtoh(second, &mut back, memory)?;
        executor.block_for_event(event)?;
        let status = executor.event_status(event)?;
        ensure(status == EventStatus::Complete, || {
            format!("after block_host_for_event: {status:?}")
        })?;
        executor.poll(second)?;
        same("a copy behind wait_for_event", &back, &source)?;
    }
    executor.destroy_event(event)?;
    executor.destroy_stream(first)?;
    executor.destroy_stream(second)?;
    executor.free(memory)?;
    Ok("recorded, waited for, polled and blocked on, twice".into())
}

/// Both ways of waiting for everything that was enqueued.
pub(super) fn waits(session: &Session<'_>) -> Seen {
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
    Ok(waited.join(", "))
}

fn enqueued(
    device: &Device,
    stream: Stream,
    memory: crate::executor::Block,
    seed: u8,
    wait: impl FnOnce() -> Result<(), crate::Error>,
) -> Result<(), Stop> {
    let source = pattern(SIZE, seed);
    let mut back = vec![0; SIZE];
    device.executor.htod(stream, memory, &source)?;
    device.executor.dtoh(stream, &mut back, memory)?;
    wait()?;
    same("a copy that was waited for", &back, &source)
}

/// What the callbacks of one check saw.
#[derive(Default)]
struct Calls {
    order: Mutex<Vec<usize>>,
    faults: Mutex<Vec<String>>,
}

/// The argument of one callback.
struct Ticket {
    number: usize,
    calls: &'static Calls,
}

unsafe extern "C" fn on_call(argument: *mut c_void, status: *mut c_void) {
    // SAFETY: the host enqueued this function with a `Ticket` that outlives the check.
    let ticket = unsafe { &*argument.cast::<Ticket>() };
    let mut order = ticket
        .calls
        .order
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    order.push(ticket.number);
    if objects::find(status.cast::<Status>()).is_none() {
        let mut faults = ticket
            .calls
            .faults
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        faults.push(format!(
            "callback {} was handed {status:p} for a TF_Status",
            ticket.number
        ));
    }
    // What one callback says of itself stops none of the others.
    if ticket.number == 7
        && let Some(status) = objects::find(status.cast::<Status>())
    {
        status.set(Code::ABORTED, "this one callback failed");
    }
}

pub(super) fn host_callbacks(session: &Session<'_>) -> Seen {
    const COUNT: usize = 100;
    let device = session.device()?;
    let stream = device.stream()?;
    // Late calls may still come when this function has given up, so these stay for ever.
    let calls: &'static Calls = keep(Calls::default());
    let before = statuses();
    let tickets: Vec<Ticket> = (0..COUNT).map(|number| Ticket { number, calls }).collect();
    for ticket in keep(tickets) {
        let argument = std::ptr::from_ref(ticket).cast_mut().cast();
        let taken = device.executor.host_callback(stream, on_call, argument)?;
        let number = ticket.number;
        ensure(taken, || format!("host_callback refused number {number}"))?;
    }
    device.executor.poll(stream)?;
    calls.judge(COUNT)?;
    let kept = statuses().saturating_sub(before);
    ensure(kept == 0, || format!("{kept} TF_Status were never deleted"))?;
    device.executor.destroy_stream(stream)?;
    Ok(format!("{COUNT}, in order"))
}

/// How many statuses the plugin has not deleted.
fn statuses() -> usize {
    let unreturned = Tally::now().unreturned;
    unreturned.get(&Kind::Status).copied().unwrap_or(0)
}

impl Calls {
    fn judge(&self, count: usize) -> Result<(), Stop> {
        let order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let ran = order.len();
        ensure(ran == count, || format!("{ran} of {count} callbacks ran"))?;
        if let Some((place, number)) = order.iter().enumerate().find(|(at, number)| at != *number) {
            let text = format!("number {number} ran out of order, in place {place}");
            return Err(Stop::Fail(text));
        }
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        ensure(faults.is_empty(), || faults[0].clone())
    }
}

/// A longer piece of work takes longer. From 2.14 on TensorFlow no longer asks for timers.
pub(super) fn timers(session: &Session<'_>) -> Seen {
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
    // On a busy machine "nothing" may be interrupted, so it has three tries.
    let short = measure(0)?.min(measure(0)?).min(measure(0)?);
    let long = measure(20)?;
    executor.destroy_timer(timer)?;
    executor.destroy_stream(stream)?;
    device.platform.destroy_timer_fns(&functions)?;
    ensure(long >= 20_000_000, || {
        format!("20 ms passed, the timer says {long} ns")
    })?;
    ensure(short < long, || {
        format!("nothing took {short} ns, 20 ms took {long} ns")
    })?;
    Ok(format!("{short} ns for nothing, {long} ns for 20 ms"))
}
