//! Memory that the host uses again as early as the contract permits.

use super::hold::Hold;
use crate::check::session::{CheckSession, CheckedDevice, expect_equal, pattern};
use crate::executor::{DeviceMemoryBlock, StreamHandle};
use crate::host_bytes::HostBytes;
use crate::memory::POISON;
use crate::outcome::{CheckResult, Stop};

/// Large copies, so that one which is not complete is seen.
const LARGE: usize = 4 << 20;

/// The host writes and reads its memory as soon as a copy is complete.
pub(in crate::check) fn host_memory(session: &CheckSession<'_>) -> CheckResult {
    const COPIES: u8 = 8;
    let device = session.device()?;
    let copies = (1..=COPIES).map(|byte| Ok((device.block(LARGE)?, byte)));
    let copies = copies.collect::<Result<Vec<LargeCopy>, Stop>>()?;
    expect_targets_written(&device, &copies)?;
    expect_sources_read(&device, &copies)?;
    let stream = device.stream()?;
    copy_on_stream(&device, stream, &copies)?;
    device.executor.destroy_stream(stream)?;
    for (block, _) in copies {
        device.executor.free(block)?;
    }
    Ok(format!(
        "the host's memory of {COPIES} copies was changed and read after the call or the event"
    ))
}

/// A block, and the byte with which a copy fills it.
type LargeCopy = (DeviceMemoryBlock, u8);

/// The target of a synchronous copy is written when the call has returned.
fn expect_targets_written(device: &CheckedDevice, copies: &[LargeCopy]) -> Result<(), Stop> {
    let executor = &device.executor;
    for (block, byte) in copies {
        executor.sync_htod_from(*block, filled(!*byte))?;
    }
    executor.synchronize()?;
    let targets: Vec<HostBytes> = copies.iter().map(|_| filled(POISON)).collect();
    for ((block, _), target) in copies.iter().zip(&targets) {
        executor.sync_dtoh_to(*target, *block)?;
    }
    // Copies that have returned too early wait for each other, the last one most.
    let samples = targets.iter().rev().map(|target| target.sample());
    let samples: Vec<[u8; 3]> = samples.collect();
    for (sample, (_, byte)) in samples.iter().zip(copies.iter().rev()) {
        let what = "the last, middle and first byte after sync_memcpy_dtoh";
        expect_equal(what, sample, &[!*byte; 3])?;
    }
    Ok(())
}

/// The source of a synchronous copy may change when the call has returned.
fn expect_sources_read(device: &CheckedDevice, copies: &[LargeCopy]) -> Result<(), Stop> {
    let executor = &device.executor;
    let sources: Vec<HostBytes> = copies.iter().map(|(_, byte)| filled(*byte)).collect();
    for ((block, _), source) in copies.iter().zip(&sources) {
        executor.sync_htod_from(*block, *source)?;
    }
    // Copies that have returned too early wait for each other, the last one most.
    sources.iter().rev().for_each(|source| source.spoil());
    executor.synchronize()?;
    for (block, byte) in copies {
        let what = "sync_memcpy_htod of memory that changed after the call";
        expect_equal(what, &device.read(*block, LARGE)?, &vec![*byte; LARGE])?;
    }
    Ok(())
}

fn filled(byte: u8) -> HostBytes {
    HostBytes::new(&vec![byte; LARGE])
}

/// The source of an enqueued copy may change when an event behind it is complete.
fn copy_on_stream(
    device: &CheckedDevice,
    stream: StreamHandle,
    copies: &[LargeCopy],
) -> Result<(), Stop> {
    let executor = &device.executor;
    let mut sources = Vec::new();
    for (block, byte) in copies {
        let source = filled(byte ^ 0x80);
        executor.htod(stream, *block, source)?;
        sources.push(source);
    }
    executor.poll(stream)?;
    sources.iter().rev().for_each(|source| source.spoil());
    executor.synchronize()?;
    for (block, byte) in copies {
        let what = "memcpy_htod of memory that changed after the event behind the copy";
        expect_equal(
            what,
            &device.read(*block, LARGE)?,
            &vec![byte ^ 0x80; LARGE],
        )?;
    }
    Ok(())
}

/// Memory that is deallocated while enqueued work uses it.
pub(in crate::check) fn device_memory(session: &CheckSession<'_>) -> CheckResult {
    const SIZE: usize = 10_000;
    const LATER: u8 = 8;
    let device = session.device()?;
    if device.platform.uses_bfc() {
        let text = "with the BFC allocator TensorFlow deallocates no memory that work uses";
        return Err(Stop::Skip(text.into()));
    }
    let executor = &device.executor;
    Hold::require(executor)?;
    let has_dtod = executor.has("memcpy_dtod");
    let stream = device.stream()?;
    let [read, written, copy] = [
        device.block(SIZE)?,
        device.block(SIZE)?,
        device.block(SIZE)?,
    ];
    let bytes = pattern(SIZE, 1);
    executor.sync_htod(read, &bytes)?;
    executor.sync_htod(copy, &bytes)?;
    let source = HostBytes::new(&pattern(SIZE, 2));
    let hold = Hold::on(executor, stream)?;
    if has_dtod {
        hold.call("memcpy_dtod", || {
            executor.dtod(stream, copy, read, SIZE as u64)
        })?;
    }
    hold.call("memcpy_htod", || executor.htod(stream, written, source))?;
    // A plugin may wait for the work: then the stream is no longer held, and the bytes below are right all the same.
    for block in [read, written] {
        hold.try_call(|| executor.free(DeviceMemoryBlock { size: 0, ..block }))?;
    }
    let mut later = Vec::new();
    for seed in 0..LATER {
        let block = hold.try_call(|| device.block(SIZE))?;
        let bytes = pattern(SIZE, 0x40 + seed);
        hold.try_call(|| executor.sync_htod(block, &bytes))?;
        later.push((block, bytes));
    }
    hold.release();
    executor.poll(stream)?;
    let what = "the copy of a block that was deallocated after memcpy_dtod was enqueued";
    expect_equal(what, &device.read(copy, SIZE)?, &bytes)?;
    for (block, bytes) in &later {
        let what =
            "a block allocated after one that memcpy_htod still had to write was deallocated";
        expect_equal(what, &device.read(*block, SIZE)?, bytes)?;
        executor.free(*block)?;
    }
    executor.free(copy)?;
    executor.destroy_stream(stream)?;
    Ok("memory was allocated again only after the work that uses it".into())
}
