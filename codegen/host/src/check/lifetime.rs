//! Checks of lifetimes: strings, devices that are created again, and leaks.

use super::session::{
    CheckSession, CheckedDevice, ensure, expect_equal, pattern, skip_unregistered,
};
use crate::error::NO_DEVICES;
use crate::host_bytes::HostBytes;
use crate::outcome::{CheckResult, Stop};
use crate::record::GuardedStruct;

/// Overwrites the stack that calls before this one used.
#[inline(never)]
fn overwrite_stack() {
    let mut bytes = [0x5a_u8; 1 << 16];
    std::hint::black_box(&mut bytes);
}

/// Allocates, fills and frees blocks of many sizes, so that freed memory of the plugin is overwritten.
fn overwrite_freed_memory() {
    let blocks: Vec<Vec<u8>> = (1..512).map(|size| vec![0x5a; size]).collect();
    std::hint::black_box(&blocks);
}

fn texts(record: &GuardedStruct, fields: &[&str]) -> Vec<Option<String>> {
    // An overwritten string may have its NUL far away.
    let short = |text: String| text.chars().take(40).collect();
    let texts = fields.iter().map(|field| record.text(field));
    texts.map(|text| text.map(short)).collect()
}

/// Strings that a struct points to do not change after the calls that filled it.
pub(super) fn strings(session: &CheckSession<'_>) -> CheckResult {
    let plugin = session.with("SE_InitPlugin")?;
    let registration = plugin.register().map_err(skip_unregistered)?;
    let fields = ["name", "type"];
    let first = texts(&registration.platform, &fields);
    overwrite_stack();
    overwrite_freed_memory();
    let platform = registration
        .into_loaded(&plugin.shapes)
        .map_err(skip_unregistered)?;
    overwrite_stack();
    overwrite_freed_memory();
    let later = texts(platform.record(), &fields);
    ensure(first == later, || {
        format!("SP_Platform's strings were {first:?} and are {later:?}")
    })?;
    if platform.device_count()? > 0 {
        let device = platform.create_device(0)?;
        let fields = ["hardware_name", "device_vendor", "pci_bus_id"];
        let first = texts(&device, &fields);
        overwrite_stack();
        overwrite_freed_memory();
        let later = texts(&device, &fields);
        ensure(first == later, || {
            format!("SP_Device's strings were {first:?} and are {later:?}")
        })?;
    }
    Ok("the strings are unchanged after later calls".into())
}

/// A device that was destroyed can be created again.
pub(super) fn device_recreation(session: &CheckSession<'_>) -> CheckResult {
    let platform = session.platform()?;
    if platform.device_count()? < 1 {
        return Err(Stop::Skip(NO_DEVICES.into()));
    }
    for round in 0..3 {
        let device = CheckedDevice::first(&platform)?;
        let (stream, event) = (device.create_stream()?, device.create_event()?);
        let block = super::session::block(&device, 1000)?;
        let (bytes, mut back) = (pattern(1000, round), vec![0; 1000]);
        device.htod(stream, block, HostBytes::new(&bytes))?;
        device.record_event(stream, event)?;
        device.block_for_event(event)?;
        device.sync_dtoh(&mut back, block)?;
        expect_equal("a copy on a device that was created again", &back, &bytes)?;
        device.free(block)?;
        device.destroy_event(event)?;
        device.destroy_stream(stream)?;
        platform.destroy_device(device.device())?;
    }
    Ok("created a device 3 times, each time with a stream, an event and a block".into())
}

/// Returns the number of bytes that are allocated with the C library in this process.
pub(super) fn in_use() -> usize {
    in_use_by_mallinfo2().unwrap_or_else(in_use_by_mallinfo)
}

/// glibc has the function from 2.33 on, and sp-gen also runs with older ones.
fn in_use_by_mallinfo2() -> Option<usize> {
    type Mallinfo2 = unsafe extern "C" fn() -> libc::mallinfo2;
    // SAFETY: the name is a C string. The handle stands for the libraries of the process.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mallinfo2".as_ptr()) };
    // SAFETY: a pointer is null or an address, as an `Option` of a function pointer is, and the C library's function has this type.
    let function: Option<Mallinfo2> = unsafe { std::mem::transmute(found) };
    // SAFETY: the function has no arguments and no preconditions.
    let info = unsafe { function?() };
    Some(info.uordblks + info.hblkhd)
}

/// Each of the two counts wraps at 4 GiB.
fn in_use_by_mallinfo() -> usize {
    // SAFETY: mallinfo has no arguments and no preconditions.
    let info = unsafe { libc::mallinfo() };
    info.uordblks.cast_unsigned() as usize + info.hblkhd.cast_unsigned() as usize
}

/// Returns the number of threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// The number of objects of each kind in a measurement.
const ROUNDS: usize = 200;

/// No kind of object leaves memory or threads behind after it is destroyed.
pub(super) fn leaks(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let executor = &device.executor;
    let timers = executor.has("create_timer") && executor.has("destroy_timer");
    expect_no_growth("a stream", ROUNDS, || {
        Ok(executor.destroy_stream(executor.create_stream()?)?)
    })?;
    expect_no_growth("an event", ROUNDS, || {
        Ok(executor.destroy_event(executor.create_event()?)?)
    })?;
    expect_no_growth("a block", ROUNDS, || {
        Ok(executor.free(super::session::block(executor, 256)?)?)
    })?;
    expect_no_growth("a block of host memory", ROUNDS, || {
        Ok(executor.host_deallocate(executor.host_allocate(256)?)?)
    })?;
    if timers {
        expect_no_growth("a timer", ROUNDS, || {
            Ok(executor.destroy_timer(executor.create_timer()?)?)
        })?;
    }
    if device.platform.has_unified_memory() {
        expect_no_growth("a block of unified memory", ROUNDS, || {
            Ok(executor.unified_deallocate(executor.unified_allocate(256)?)?)
        })?;
    }
    Ok(match timers {
        true => "streams, events, blocks, host memory and timers leave no memory or threads behind",
        false => "streams, events, blocks and host memory leave no memory or threads behind",
    }
    .into())
}

/// Fails if each run of `life_cycle` leaves memory or threads behind. Other threads of the plugin allocate
/// and free meanwhile, so the least of several measurements counts: a leak is in each.
///
/// # Errors
/// Returns the first error of `life_cycle`, or a failure if memory or threads are left.
pub fn expect_no_growth(
    kind: &str,
    rounds: usize,
    life_cycle: impl Fn() -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut least = (usize::MAX, usize::MAX);
    for _ in 0..4 {
        let before = (in_use(), threads());
        (0..rounds).try_for_each(|_| life_cycle())?;
        let bytes = in_use().saturating_sub(before.0);
        let more = threads().saturating_sub(before.1);
        least = (least.0.min(bytes), least.1.min(more));
    }
    let (bytes, threads) = least;
    ensure(bytes < rounds * 4, || {
        let each = bytes.div_ceil(rounds);
        format!("{kind} leaks {each} bytes each time it is destroyed")
    })?;
    ensure(threads < rounds / 4, || {
        format!("{threads} threads are left after {rounds} times {kind}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocation_is_in_use() {
        const SIZE: usize = 64 << 20;
        for count in [in_use_by_mallinfo, || {
            in_use_by_mallinfo2().unwrap_or_else(in_use_by_mallinfo)
        }] {
            let before = count();
            let bytes = std::hint::black_box(vec![1_u8; SIZE]);
            let grown = count().saturating_sub(before);
            drop(bytes);
            assert!((SIZE / 2..2 * SIZE).contains(&grown), "{grown} bytes");
        }
    }
}
