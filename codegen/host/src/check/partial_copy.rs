//! Checks of copies of parts of blocks, of memory contents, and of unified memory.

use super::session::{CheckSession, CheckedDevice, ensure, expect_equal, pattern};
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
        let mut back = GuardedMemory::new(len, &"the host's memory for a copy");
        get(&device, seed, back.bytes_mut(), part(block, (at, len)))?;
        expect_equal("a part that was copied out", back.bytes(), &source)?;
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
    device.executor.htod(stream, target, source.bytes())?;
    device.executor.poll(stream)?;
    Ok(device.executor.destroy_stream(stream)?)
}

fn get(
    device: &CheckedDevice,
    seed: usize,
    target: &mut [u8],
    source: DeviceMemoryBlock,
) -> Result<(), Stop> {
    if seed % 2 == 1 {
        return Ok(device.executor.sync_dtoh(target, source)?);
    }
    let stream = device.stream()?;
    device.executor.dtoh(stream, target, source)?;
    device.executor.poll(stream)?;
    Ok(device.executor.destroy_stream(stream)?)
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

/// The host can write to unified memory, if the platform reports it.
pub(super) fn unified(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    if !device.platform.has_unified_memory() {
        return Err(Stop::Skip("the platform has no unified memory".into()));
    }
    for size in [1, 1000, 1 << 20] {
        let memory = device.executor.unified_allocate(size as u64)?;
        ensure(!memory.is_null(), || {
            format!("unified_memory_allocate of {size} bytes returned null")
        })?;
        // SAFETY: a non-null result of unified_memory_allocate has at least `size` bytes that the host may write.
        unsafe { std::ptr::write_bytes(memory.cast::<u8>(), 0x5a, size) };
        device.executor.unified_deallocate(memory)?;
    }
    Ok("the host wrote to unified memory of 3 sizes".into())
}
