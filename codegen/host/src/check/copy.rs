//! Checks of synchronous and enqueued copies in three directions, and of fills.

use super::session::{CheckSession, CheckedDevice, block, expect_equal, pattern};
use crate::executor::Executor;
use crate::host_bytes::HostBytes;
use crate::outcome::{CheckResult, Stop};

const SIZES: [usize; 6] = [1, 7, 64, 4096, 65_537, (1 << 20) + 3];

pub(super) fn sync(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let dtod = device.executor.has("sync_memcpy_dtod");
    for size in SIZES {
        let (first, second) = (device.block(size)?, device.block(size)?);
        let bytes = pattern(size, 1);
        device.executor.sync_htod(first, &bytes)?;
        expect_equal(
            "sync_memcpy_htod and back",
            &device.read(first, size)?,
            &bytes,
        )?;
        if dtod {
            device.executor.sync_dtod(second, first, size as u64)?;
            expect_equal("sync_memcpy_dtod", &device.read(second, size)?, &bytes)?;
        }
        device.executor.free(first)?;
        device.executor.free(second)?;
    }
    Ok(copied_directions(dtod))
}

fn copied_directions(dtod: bool) -> String {
    match dtod {
        true => "copied host to device, device to device and device to host",
        false => {
            "copied host to device and device to host; the plugin sets no slot for device to device"
        }
    }
    .into()
}

/// Copies to, on and from the device on one stream, with one wait.
pub(super) fn async_copies(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let executor = &device.executor;
    let stream = device.stream()?;
    let dtod = executor.has("memcpy_dtod");
    for size in SIZES {
        let (first, second) = (device.block(size)?, device.block(size)?);
        let bytes = pattern(size, 2);
        let back = HostBytes::poisoned(size);
        executor.htod(stream, first, HostBytes::new(&bytes))?;
        if dtod {
            executor.dtod(stream, second, first, size as u64)?;
        }
        executor.dtoh(stream, back, if dtod { second } else { first })?;
        executor.poll(stream)?;
        expect_equal("the copies on a stream", &back.to_vec(), &bytes)?;
        executor.free(first)?;
        executor.free(second)?;
    }
    executor.destroy_stream(stream)?;
    Ok(copied_directions(dtod))
}

/// TensorFlow calls from several threads without a lock.
pub(super) fn threads(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    super::session::run_on_threads(|seed| one_thread(&device.executor, seed))?;
    Ok("8 threads copied at once, each on its own stream".into())
}

fn one_thread(executor: &Executor, seed: u8) -> Result<(), Stop> {
    let stream = executor.create_stream()?;
    for round in 0..20 {
        let bytes = pattern(10_000, seed.wrapping_mul(29) ^ round);
        let memory = block(executor, bytes.len())?;
        let back = HostBytes::poisoned(bytes.len());
        executor.htod(stream, memory, HostBytes::new(&bytes))?;
        executor.dtoh(stream, back, memory)?;
        executor.poll(stream)?;
        expect_equal("copies on a thread's own stream", &back.to_vec(), &bytes)?;
        executor.free(memory)?;
    }
    Ok(executor.destroy_stream(stream)?)
}

pub(super) fn fills(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    if !device.executor.is_in_release("mem_zero") {
        return Err(Stop::Skip("this release has no fills".into()));
    }
    for size in [4, 12, 64, 4096, 65_540] {
        fill(&device, size)?;
    }
    Ok("mem_zero, memset and memset32 filled exactly their range".into())
}

/// Fills do not write after their end.
fn fill(device: &CheckedDevice, size: usize) -> Result<(), Stop> {
    let stream = device.stream()?;
    let executor = &device.executor;
    let memory = device.block(size + 64)?;
    let behind = pattern(64, 3);
    let words: Vec<u8> = 0x0403_0201u32.to_le_bytes().repeat(size / 4);
    let wanted = [
        ("mem_zero", vec![0; size]),
        ("memset", vec![0x7e; size]),
        ("memset32", words),
    ];
    for (slot, filled) in wanted {
        executor.sync_htod(memory, &[pattern(size, 4), behind.clone()].concat())?;
        match slot {
            "mem_zero" => executor.mem_zero(stream, memory, size as u64)?,
            "memset" => executor.memset(stream, memory, 0x7e, size as u64)?,
            _ => executor.memset32(stream, memory, 0x0403_0201, size as u64)?,
        }
        executor.poll(stream)?;
        expect_equal(
            slot,
            &device.read(memory, size + 64)?,
            &[filled, behind.clone()].concat(),
        )?;
    }
    executor.destroy_stream(stream)?;
    Ok(executor.free(memory)?)
}
