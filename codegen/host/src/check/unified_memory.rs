//! Checks of unified memory: the host and the device use the same bytes at the same address.

use super::session::{CheckSession, CheckedDevice, ensure, expect_equal, pattern};
use crate::call::Ptr;
use crate::executor::{DeviceMemoryBlock, Executor};
use crate::memory::{ALIGNMENT, zero_if_writable};
use crate::outcome::{CheckResult, Stop};

const SIZES: [usize; 4] = [1, 1000, 4097, 1 << 20];

/// A size above the memory of any device.
const TOO_LARGE: u64 = 1 << 62;

/// A block of unified memory that the host can write.
struct UnifiedBlock {
    memory: Ptr,
    size: usize,
}

/// Blocks of all sizes at once keep the bytes that the host writes, and copies of the device use the same bytes.
pub(super) fn unified(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    if !device.platform.has_unified_memory() {
        return Err(Stop::Skip("the platform has no unified memory".into()));
    }
    let blocks = SIZES.map(|size| UnifiedBlock::allocate(&device.executor, size));
    let mut blocks: Vec<UnifiedBlock> = blocks.into_iter().collect::<Result<_, _>>()?;
    expect_disjoint(&mut blocks)?;
    for (seed, block) in blocks.iter().enumerate() {
        block.write(&pattern(block.size, seed as u8));
    }
    for (seed, block) in blocks.iter().enumerate() {
        expect_shared(&device, block, seed as u8)?;
    }
    for block in blocks {
        device.executor.unified_deallocate(block.memory)?;
    }
    let memory = device.executor.unified_allocate(TOO_LARGE)?;
    ensure(memory.is_null(), || {
        format!("unified_memory_allocate of {TOO_LARGE} bytes returned {memory:p}")
    })?;
    Ok(format!(
        "the host and the device used the same bytes in blocks of {} sizes",
        SIZES.len()
    ))
}

impl UnifiedBlock {
    fn allocate(executor: &Executor, size: usize) -> Result<Self, Stop> {
        let memory = executor.unified_allocate(size as u64)?;
        ensure(!memory.is_null(), || {
            format!("unified_memory_allocate of {size} bytes returned null")
        })?;
        ensure((memory as usize).is_multiple_of(ALIGNMENT), || {
            format!(
                "{size} bytes of unified memory at {memory:p}, which is not aligned to {ALIGNMENT} bytes"
            )
        })?;
        // SAFETY: the plugin has returned the address of new memory of `size` bytes, or of memory that is not accessible.
        let is_writable = unsafe { zero_if_writable(memory.cast(), size) };
        ensure(is_writable, || {
            format!("the host cannot write to {size} bytes of unified memory at {memory:p}")
        })?;
        Ok(Self { memory, size })
    }

    fn write(&self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.size);
        // SAFETY: the plugin allocated `size` bytes here, and `zero_if_writable` has found them writable.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.memory.cast(), self.size) };
    }

    fn read(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size];
        // SAFETY: the plugin allocated `size` bytes here, and `zero_if_writable` has found them writable.
        unsafe {
            std::ptr::copy_nonoverlapping(self.memory.cast(), bytes.as_mut_ptr(), self.size);
        }
        bytes
    }

    fn device_memory(&self) -> DeviceMemoryBlock {
        DeviceMemoryBlock {
            opaque: self.memory,
            size: self.size as u64,
        }
    }
}

fn expect_disjoint(blocks: &mut [UnifiedBlock]) -> Result<(), Stop> {
    blocks.sort_by_key(|block| block.memory as usize);
    for pair in blocks.windows(2) {
        let end = pair[0].memory as usize + pair[0].size;
        ensure(end <= pair[1].memory as usize, || {
            "two blocks of unified memory overlap".into()
        })?;
    }
    Ok(())
}

/// Fails the check unless a copy of the device reads the bytes that the host wrote, and the other way round.
fn expect_shared(device: &CheckedDevice, block: &UnifiedBlock, seed: u8) -> Result<(), Stop> {
    let wanted = pattern(block.size, seed);
    expect_equal(
        "unified memory after other blocks were written",
        &block.read(),
        &wanted,
    )?;
    let copied = device.read(block.device_memory(), block.size)?;
    expect_equal("sync_memcpy_dtoh of unified memory", &copied, &wanted)?;
    let wanted = pattern(block.size, !seed);
    let target = block.device_memory();
    device.executor.sync_htod(target, &wanted)?;
    expect_equal(
        "unified memory after sync_memcpy_htod",
        &block.read(),
        &wanted,
    )
}
