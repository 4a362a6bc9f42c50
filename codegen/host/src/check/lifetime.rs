//! What outlives what: strings, objects that are made again, and what is left behind of each kind.

use super::session::{Device, Session, ensure, pattern, same, unregistered};
use crate::outcome::{Seen, Stop};
use crate::record::Record;

/// Overwrites the stack that calls before this one used.
#[inline(never)]
fn scribble() {
    let mut bytes = [0x5a_u8; 1 << 16];
    std::hint::black_box(&mut bytes);
}

/// Takes, fills and gives back memory of many sizes, such as a plugin's that was freed.
fn churn() {
    let blocks: Vec<Vec<u8>> = (1..512).map(|size| vec![0x5a; size]).collect();
    std::hint::black_box(&blocks);
}

fn texts(record: &Record, fields: &[&str]) -> Vec<Option<String>> {
    // What was overwritten may have no end for long.
    let short = |text: String| text.chars().take(40).collect();
    let texts = fields.iter().map(|field| record.text(field));
    texts.map(|text| text.map(short)).collect()
}

/// Names that a struct points to are the same after the calls that filled it have returned.
pub(super) fn strings(session: &Session<'_>) -> Seen {
    let plugin = session.with("SE_InitPlugin")?;
    let registration = plugin.register().map_err(unregistered)?;
    let fields = ["name", "type"];
    let first = texts(&registration.platform, &fields);
    scribble();
    churn();
    let platform = registration.adopt(&plugin.shapes).map_err(unregistered)?;
    scribble();
    churn();
    let later = texts(platform.record(), &fields);
    ensure(first == later, || {
        format!("SP_Platform's strings were {first:?} and are {later:?}")
    })?;
    if platform.device_count()? > 0 {
        let device = platform.create_device(0)?;
        let fields = ["hardware_name", "device_vendor", "pci_bus_id"];
        let first = texts(&device, &fields);
        scribble();
        churn();
        let later = texts(&device, &fields);
        ensure(first == later, || {
            format!("SP_Device's strings were {first:?} and are {later:?}")
        })?;
    }
    Ok("still there when the calls that set them are long over".into())
}

/// A device that was destroyed is created again, and does what it did.
pub(super) fn again(session: &Session<'_>) -> Seen {
    let platform = session.platform()?;
    if platform.device_count()? < 1 {
        return Err(Stop::Skip("the plugin reports 0 devices".into()));
    }
    for round in 0..3 {
        let device = Device::of(&platform)?;
        let (stream, event) = (device.create_stream()?, device.create_event()?);
        let block = super::session::block(&device, 1000)?;
        let (bytes, mut back) = (pattern(1000, round), vec![0; 1000]);
        device.htod(stream, block, &bytes)?;
        device.record_event(stream, event)?;
        device.block_for_event(event)?;
        device.sync_dtoh(&mut back, block)?;
        same("a copy on a device that was made again", &back, &bytes)?;
        device.free(block)?;
        device.destroy_event(event)?;
        device.destroy_stream(stream)?;
        platform.destroy_device(device.device())?;
    }
    Ok("three lives of a device, each with a stream, an event and a block".into())
}

/// Bytes that the C library's allocator has given out in this process.
fn in_use() -> usize {
    // SAFETY: a question without arguments.
    let info = unsafe { libc::mallinfo2() };
    info.uordblks + info.hblkhd
}

/// Threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// What stays of each kind of object that is made and destroyed.
pub(super) fn leaks(session: &Session<'_>) -> Seen {
    let device = session.device()?;
    let executor = &device.executor;
    let timers = executor.has("create_timer") && executor.has("destroy_timer");
    grows("a stream", || {
        Ok(executor.destroy_stream(executor.create_stream()?)?)
    })?;
    grows("an event", || {
        Ok(executor.destroy_event(executor.create_event()?)?)
    })?;
    grows("a block", || {
        Ok(executor.free(super::session::block(executor, 256)?)?)
    })?;
    grows("a block of host memory", || {
        Ok(executor.host_deallocate(executor.host_allocate(256)?)?)
    })?;
    if timers {
        grows("a timer", || {
            Ok(executor.destroy_timer(executor.create_timer()?)?)
        })?;
    }
    Ok(match timers {
        true => "nothing of streams, events, blocks, host memory, timers",
        false => "nothing of streams, events, blocks, host memory",
    }
    .into())
}

/// Fails where `life` leaves memory or threads behind each time. Other threads of the plugin's take and
/// give back meanwhile, so that what counts is the least of several spans: a leak is in each.
fn grows(kind: &str, life: impl Fn() -> Result<(), Stop>) -> Result<(), Stop> {
    const ROUNDS: usize = 200;
    let mut least = (usize::MAX, usize::MAX);
    for _ in 0..4 {
        let before = (in_use(), threads());
        (0..ROUNDS).try_for_each(|_| life())?;
        let bytes = in_use().saturating_sub(before.0);
        let more = threads().saturating_sub(before.1);
        least = (least.0.min(bytes), least.1.min(more));
    }
    let (bytes, threads) = least;
    ensure(bytes < ROUNDS * 4, || {
        let each = bytes.div_ceil(ROUNDS);
        format!("{kind} leaves {each} bytes behind when it is gone")
    })?;
    ensure(threads < ROUNDS / 4, || {
        format!("{threads} threads are left of {ROUNDS} times {kind}")
    })
}
