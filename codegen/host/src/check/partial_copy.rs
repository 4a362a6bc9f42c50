//! Copies of parts of blocks, memory that stays as it is, and blocks in unified memory.

use super::session::{Device, Session, ensure, pattern, same};
use crate::executor::Block;
use crate::guarded::Guarded;
use crate::outcome::{Seen, Stop};

const SIZE: usize = 10_000;

/// Where a part begins and how long it is: overlapping, odd, empty, and up to the last byte.
const PARTS: [(usize, usize); 6] = [
    (0, 100),
    (64, 1000),
    (999, 4097),
    (5000, 0),
    (SIZE - 1, 1),
    (0, SIZE),
];

fn part(block: Block, (at, len): (usize, usize)) -> Block {
    Block {
        opaque: block.opaque.wrapping_byte_add(at),
        size: len as u64,
    }
}

/// Each copy changes its part and nothing else, on both sides.
pub(super) fn copies(session: &Session<'_>) -> Seen {
    let device = session.device()?;
    let block = device.block(SIZE)?;
    let mut wanted = pattern(SIZE, 11);
    device.executor.sync_htod(block, &wanted)?;
    for (seed, &(at, len)) in PARTS.iter().enumerate() {
        let source = pattern(len, seed as u8 + 20);
        put(&device, seed, part(block, (at, len)), &source)?;
        wanted[at..at + len].copy_from_slice(&source);
        same(
            "a block of which a part was copied",
            &device.read(block, SIZE)?,
            &wanted,
        )?;
        let mut back = Guarded::new(len, &"the host's memory for a copy");
        get(&device, seed, back.bytes_mut(), part(block, (at, len)))?;
        same("a part that was copied out", back.bytes(), &source)?;
    }
    device.executor.free(block)?;
    Ok(format!("{} parts, waited for and on a stream", PARTS.len()))
}

/// Every second copy is on a stream.
fn put(device: &Device, seed: usize, target: Block, source: &[u8]) -> Result<(), Stop> {
    let source = Guarded::of(source, &"the host's memory for a copy");
    if seed.is_multiple_of(2) {
        return Ok(device.executor.sync_htod(target, source.bytes())?);
    }
    let stream = device.stream()?;
    device.executor.htod(stream, target, source.bytes())?;
    device.executor.poll(stream)?;
    Ok(device.executor.destroy_stream(stream)?)
}

fn get(device: &Device, seed: usize, target: &mut [u8], source: Block) -> Result<(), Stop> {
    if seed % 2 == 1 {
        return Ok(device.executor.sync_dtoh(target, source)?);
    }
    let stream = device.stream()?;
    device.executor.dtoh(stream, target, source)?;
    device.executor.poll(stream)?;
    Ok(device.executor.destroy_stream(stream)?)
}

/// Blocks keep what was written while others are taken, filled and given back.
pub(super) fn kept(session: &Session<'_>) -> Seen {
    const SIZES: [usize; 5] = [1, 64, 1000, 4097, 100_000];
    let device = session.device()?;
    let blocks = SIZES.map(|size| (size, device.block(size)));
    let mut kept = Vec::new();
    for (seed, (size, block)) in blocks.into_iter().enumerate() {
        let (block, bytes) = (block?, pattern(size, seed as u8));
        device.executor.sync_htod(block, &bytes)?;
        kept.push((block, bytes));
    }
    for round in 0..20 {
        let size = SIZES[round % SIZES.len()];
        let other = device.block(size)?;
        device.executor.sync_htod(other, &pattern(size, 0x77))?;
        device.executor.free(other)?;
    }
    for (block, bytes) in kept {
        same(
            "a block that nobody wrote to since",
            &device.read(block, bytes.len())?,
            &bytes,
        )?;
        device.executor.free(block)?;
    }
    Ok(format!(
        "{} blocks while 20 others came and went",
        SIZES.len()
    ))
}

/// Eight threads take and give back, each with blocks of its own.
pub(super) fn threads(session: &Session<'_>) -> Seen {
    let device = session.device()?;
    let executor = &*device.executor;
    super::session::at_once(|seed| {
        for round in 0..50u8 {
            let block = super::session::block(executor, 4096)?;
            let bytes = pattern(4096, seed.wrapping_mul(31) ^ round);
            executor.sync_htod(block, &bytes)?;
            let mut back = vec![0; bytes.len()];
            executor.sync_dtoh(&mut back, block)?;
            same("a block of one of eight threads", &back, &bytes)?;
            executor.free(block)?;
        }
        Ok(())
    })?;
    Ok("eight threads, 50 blocks each".into())
}

/// Where the platform says that it has unified memory, the host may write to it.
pub(super) fn unified(session: &Session<'_>) -> Seen {
    let device = session.device()?;
    if !device.platform.has_unified_memory() {
        return Err(Stop::Skip("the platform has no unified memory".into()));
    }
    for size in [1, 1000, 1 << 20] {
        let memory = device.executor.unified_allocate(size as u64)?;
        ensure(!memory.is_null(), || {
            format!("unified_memory_allocate of {size} bytes gave null")
        })?;
        // SAFETY: the plugin gave at least `size` bytes that the host may write to.
        unsafe { std::ptr::write_bytes(memory.cast::<u8>(), 0x5a, size) };
        device.executor.unified_deallocate(memory)?;
    }
    Ok("taken, written by the host, given back".into())
}
