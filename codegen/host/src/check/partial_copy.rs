//! Checks of copies of parts of blocks, and of memory contents.

use std::mem::ManuallyDrop;

use super::session::{CheckSession, CheckedDevice, expect_equal, pattern};
use crate::executor::DeviceMemoryBlock;
use crate::guarded::GuardedMemory;
use crate::outcome::{CheckResult, Stop};

const SIZE: usize = 10_000;

/// Offsets and lengths of parts: overlapping, odd, empty, and up to the last byte.
const PARTS: [(usize, usize); 6] = [
    (0, 100),
    (64, 1000),
    (999, 4097),
    (5000, 0),
    (SIZE - 1, 1),
    (0, SIZE),
];

fn part(block: DeviceMemoryBlock, (at, len): (usize, usize)) -> DeviceMemoryBlock {
    DeviceMemoryBlock {
        opaque: block.opaque.wrapping_byte_add(at),
        size: len as u64,
    }
}

/// Each copy changes its part and nothing else, on both sides.
pub(super) fn copies(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let block = device.block(SIZE)?;
    let mut wanted = pattern(SIZE, 11);
    device.executor.sync_htod(block, &wanted)?;
    for (seed, &(at, len)) in PARTS.iter().enumerate() {
        let source = pattern(len, seed as u8 + 20);
        put(&device, seed, part(block, (at, len)), &source)?;
        wanted[at..at + len].copy_from_slice(&source);
        expect_equal(
            "a block of which a part was copied",
            &device.read(block, SIZE)?,
            &wanted,
        )?;
        let back = get(&device, seed, part(block, (at, len)))?;
        expect_equal("a part that was copied out", &back, &source)?;
    }
    device.executor.free(block)?;
    Ok(format!(
        "copied {} parts of a block, synchronously and on a stream",
        PARTS.len()
    ))
}

/// Every second copy is on a stream.
fn put(
    device: &CheckedDevice,
    seed: usize,
    target: DeviceMemoryBlock,
    source: &[u8],
) -> Result<(), Stop> {
    let source = GuardedMemory::from_bytes(source, &"the host's memory for a copy");
    if seed.is_multiple_of(2) {
        return Ok(device.executor.sync_htod(target, source.bytes())?);
    }
    let stream = device.stream()?;
    // Never freed unless the copy is done.
    let source = ManuallyDrop::new(source);
    let bytes = source.bytes();
    // SAFETY: the bytes are freed after the stream is done, or not at all.
    unsafe {
        let source = (bytes.as_ptr(), bytes.len());
        device.executor.htod_from(stream, target, source)?;
    }
    device.executor.poll(stream)?;
    drop(ManuallyDrop::into_inner(source));
    Ok(device.executor.destroy_stream(stream)?)
}

/// Returns the bytes of `source` by way of memory that ends at an inaccessible page.
fn get(device: &CheckedDevice, seed: usize, source: DeviceMemoryBlock) -> Result<Vec<u8>, Stop> {
    let mut target = GuardedMemory::new(source.size as usize, &"the host's memory for a copy");
    if seed % 2 == 1 {
        device.executor.sync_dtoh(target.bytes_mut(), source)?;
        return Ok(target.bytes().to_vec());
    }
    let stream = device.stream()?;
    // Never freed unless the copy is done.
    let mut target = ManuallyDrop::new(target);
    let bytes = target.bytes_mut();
    // SAFETY: the bytes are freed after the stream is done, or not at all, and nothing else uses them until then.
    unsafe {
        let target = (bytes.as_mut_ptr(), bytes.len());
        device.executor.dtoh_to(stream, target, source)?;
    }
    device.executor.poll(stream)?;
    device.executor.destroy_stream(stream)?;
    Ok(ManuallyDrop::into_inner(target).bytes().to_vec())
}

/// Blocks keep their contents while others are allocated, filled and freed.
pub(super) fn contents(session: &CheckSession<'_>) -> CheckResult {
    const SIZES: [usize; 5] = [1, 64, 1000, 4097, 100_000];
    let device = session.device()?;
    let blocks = SIZES.map(|size| (size, device.block(size)));
    let mut filled = Vec::new();
    for (seed, (size, block)) in blocks.into_iter().enumerate() {
        let (block, bytes) = (block?, pattern(size, seed as u8));
        device.executor.sync_htod(block, &bytes)?;
        filled.push((block, bytes));
    }
    for round in 0..20 {
        let size = SIZES[round % SIZES.len()];
        let other = device.block(size)?;
        device.executor.sync_htod(other, &pattern(size, 0x77))?;
        device.executor.free(other)?;
    }
    for (block, bytes) in filled {
        expect_equal(
            "a block after other blocks were written",
            &device.read(block, bytes.len())?,
            &bytes,
        )?;
        device.executor.free(block)?;
    }
    Ok(format!(
        "{} blocks unchanged while 20 others were allocated and freed",
        SIZES.len()
    ))
}

/// Eight threads allocate and free blocks of their own.
pub(super) fn threads(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let executor = &*device.executor;
    super::session::run_on_threads(|seed| {
        for round in 0..50u8 {
            let block = super::session::block(executor, 4096)?;
            let bytes = pattern(4096, seed.wrapping_mul(31) ^ round);
            executor.sync_htod(block, &bytes)?;
            let mut back = vec![0; bytes.len()];
            executor.sync_dtoh(&mut back, block)?;
            expect_equal("a block of one of eight threads", &back, &bytes)?;
            executor.free(block)?;
        }
        Ok(())
    })?;
    Ok("8 threads allocated and freed 50 blocks each at once".into())
}
