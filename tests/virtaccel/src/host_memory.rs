//! Host memory of the driver, and copies between the host and a device.
//!
//! A device reaches memory of `va_host_alloc` directly. Other memory is copied through a buffer, as drivers do with memory that
//! the system may move.

use std::alloc::{self, Layout};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::abi::{CopyCounts, Result, Status};
use crate::memory::{PAGE, Region};

/// Size of the buffer between the host's memory and the device's.
const BUFFER: usize = 16 * PAGE;

/// An allocation of `va_host_alloc`, which is freed when nothing refers to it.
struct Allocation {
    start: usize,
    layout: Layout,
}

/// The allocations by address.
static ALLOCATIONS: Mutex<BTreeMap<usize, Arc<Allocation>>> = Mutex::new(BTreeMap::new());

/// Numbers of copies.
struct Count {
    copies: AtomicU64,
    bytes: AtomicU64,
}

static DIRECT: Count = Count::new();
static BOUNCED: Count = Count::new();

/// Host memory of a copy.
pub struct HostRange {
    start: usize,
    len: usize,
    /// The allocation that the range is a part of.
    allocation: Option<Arc<Allocation>>,
}

fn lock() -> MutexGuard<'static, BTreeMap<usize, Arc<Allocation>>> {
    ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates host memory and returns its address.
pub fn allocate(size: u64) -> Result<usize> {
    let bytes = usize::try_from(size).map_err(|_| Status::OUT_OF_MEMORY)?;
    let layout = Layout::from_size_align(bytes, PAGE).map_err(|_| Status::OUT_OF_MEMORY)?;
    if bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the size is not 0.
    let start = unsafe { alloc::alloc(layout) } as usize;
    if start == 0 {
        return Err(Status::OUT_OF_MEMORY);
    }
    lock().insert(start, Arc::new(Allocation { start, layout }));
    Ok(start)
}

/// Frees the allocation that begins at `address`, once no copy uses it.
pub fn free(address: usize) -> Result {
    let removed = lock().remove(&address);
    removed.map(drop).ok_or(Status::INVALID_ADDRESS)
}

/// Returns the numbers of copies that have run.
pub fn counts() -> CopyCounts {
    CopyCounts {
        struct_size: size_of::<CopyCounts>(),
        direct: DIRECT.copies.load(Ordering::Relaxed),
        direct_bytes: DIRECT.bytes.load(Ordering::Relaxed),
        bounced: BOUNCED.copies.load(Ordering::Relaxed),
        bounced_bytes: BOUNCED.bytes.load(Ordering::Relaxed),
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: `allocate` has allocated it with this layout, and nothing refers to it any more.
        unsafe { alloc::dealloc(self.start as *mut u8, self.layout) };
    }
}

impl Count {
    const fn new() -> Self {
        let [copies, bytes] = [AtomicU64::new(0), AtomicU64::new(0)];
        Self { copies, bytes }
    }

    fn add(&self, bytes: usize) {
        self.copies.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl HostRange {
    /// Returns the range of `len` bytes at an address.
    pub fn new(start: usize, len: usize) -> Self {
        let allocations = lock();
        let (_, last) = allocations.range(..=start).next_back().unzip();
        let contains =
            |it: &&Arc<Allocation>| len <= it.layout.size().saturating_sub(start - it.start);
        let allocation = last.filter(contains).cloned();
        Self {
            start,
            len,
            allocation,
        }
    }

    /// Copies the range to device memory of the same length.
    ///
    /// # Safety
    /// - The range is valid for reads, and nothing writes to it.
    /// - Nothing else uses the region.
    pub unsafe fn copy_to(&self, target: &Region) {
        let host = self.start as *const u8;
        // SAFETY: the offset is below the length of both, and the caller guarantees the rest.
        let copy = |offset, to: *mut u8, len| unsafe { to.copy_from(host.add(offset), len) };
        match self.count_direct() {
            true => copy(0, target.pointer(), self.len),
            false => self.chunks(|offset, buffer| {
                copy(offset, buffer.as_mut_ptr(), buffer.len());
                // SAFETY: as above.
                unsafe {
                    target
                        .pointer()
                        .add(offset)
                        .copy_from(buffer.as_ptr(), buffer.len())
                };
            }),
        }
    }

    /// Copies device memory of the same length to the range.
    ///
    /// # Safety
    /// - The range is valid for writes, and nothing else uses it.
    /// - Nothing writes to the region.
    pub unsafe fn copy_from(&self, source: &Region) {
        let host = self.start as *mut u8;
        // SAFETY: the offset is below the length of both, and the caller guarantees the rest.
        let copy = |offset, from: *const u8, len| unsafe { host.add(offset).copy_from(from, len) };
        match self.count_direct() {
            true => copy(0, source.pointer(), self.len),
            false => self.chunks(|offset, buffer| {
                // SAFETY: as above.
                unsafe {
                    buffer
                        .as_mut_ptr()
                        .copy_from(source.pointer().add(offset), buffer.len())
                };
                copy(offset, buffer.as_ptr(), buffer.len());
            }),
        }
    }

    /// Counts a copy. Returns true if it is direct.
    fn count_direct(&self) -> bool {
        let is_direct = self.allocation.is_some();
        match is_direct {
            true => DIRECT.add(self.len),
            false => BOUNCED.add(self.len),
        }
        is_direct
    }

    /// Calls a function with each offset of a part, and a buffer of the part's length.
    fn chunks(&self, mut copy: impl FnMut(usize, &mut [u8])) {
        let mut buffer = [0; BUFFER];
        for offset in (0..self.len).step_by(BUFFER) {
            copy(offset, &mut buffer[..BUFFER.min(self.len - offset)]);
        }
    }
}
