//! Checks of device memory and host memory.

use std::ptr::null_mut;

use super::session::{CheckSession, ensure};
use crate::executor::DeviceMemoryBlock;
use crate::memory::ALIGNMENT;
use crate::outcome::CheckResult;

const SIZES: [u64; 8] = [1, 3, 7, 64, 1000, 4097, 1 << 20, 64 << 20];

fn aligned(address: *mut std::ffi::c_void) -> bool {
    (address as usize).is_multiple_of(ALIGNMENT)
}

pub(super) fn usage(session: &CheckSession<'_>) -> CheckResult {
    let usage = session.device()?.executor.usage()?;
    let text =
        || "device_memory_usage returned false: TensorFlow creates no device then".to_owned();
    ensure(usage.is_some(), text)?;
    let (free, total) = usage.unwrap_or_default();
    ensure(0 <= free && free <= total, || {
        format!("device_memory_usage reports {free} free bytes of {total}")
    })?;
    Ok(format!("{free} of {total} bytes are free"))
}

/// Blocks of all sizes at once: none may share memory with another.
pub(super) fn allocate(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let empty = device.executor.allocate(0)?;
    let mut blocks = Vec::new();
    for size in SIZES {
        let block = device.block(size as usize)?;
        ensure(aligned(block.opaque), || {
            format!(
                "{size} bytes at {:p}, which is not aligned to 64 bytes",
                block.opaque
            )
        })?;
        ensure(block.size >= size, || {
            format!(
                "allocate of {size} bytes described a block of {}",
                block.size
            )
        })?;
        blocks.push(block);
    }
    blocks.sort_by_key(|block| block.opaque as usize);
    for pair in blocks.windows(2) {
        let end = pair[0].opaque as usize as u64 + pair[0].size;
        ensure(end <= pair[1].opaque as usize as u64, || {
            "two blocks overlap".into()
        })?;
    }
    for block in blocks.into_iter().chain([empty]) {
        device.executor.free(block)?;
    }
    Ok(format!(
        "allocated 0 bytes and {} sizes up to 64 MiB, aligned and without overlap",
        SIZES.len()
    ))
}

/// An allocation above any memory returns null and does not crash.
pub(super) fn too_large(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    for size in [1 << 62, u64::MAX, u64::MAX - 63] {
        let block = device.executor.allocate(size)?;
        ensure(block.opaque.is_null(), || {
            format!("allocate of {size} bytes returned {:p}", block.opaque)
        })?;
    }
    device.executor.free(device.block(64)?)?;
    Ok("allocate returns null for sizes above any device's memory".into())
}

/// TensorFlow frees null blocks, and frees blocks whose size it no longer knows.
pub(super) fn deallocate(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    device.executor.free(DeviceMemoryBlock {
        opaque: null_mut(),
        size: 0,
    })?;
    for _ in 0..3 {
        let block = device.block(1 << 16)?;
        device
            .executor
            .free(DeviceMemoryBlock { size: 0, ..block })?;
    }
    Ok("freed a null block, and blocks whose stated size is 0".into())
}

pub(super) fn host_memory(session: &CheckSession<'_>) -> CheckResult {
    let executor = session.device()?.executor;
    for size in SIZES {
        let memory = executor.host_allocate(size)?;
        ensure(!memory.is_null(), || {
            format!("host_memory_allocate of {size} bytes returned null")
        })?;
        let wanted = executor.host_alignment();
        ensure((memory as usize).is_multiple_of(wanted), || {
            format!(
                "{size} bytes at {memory:p}; TensorFlow aborts on less than {wanted}-byte alignment"
            )
        })?;
        // SAFETY: a non-null result of host_memory_allocate has at least `size` writable bytes.
        unsafe { std::ptr::write_bytes(memory.cast::<u8>(), 0x5a, size as usize) };
        executor.host_deallocate(memory)?;
    }
    let empty = executor.host_allocate(0)?;
    executor.host_deallocate(empty)?;
    Ok(format!(
        "allocated 0 bytes and {} sizes up to 64 MiB, aligned and writable",
        SIZES.len()
    ))
}
