//! Device memory: blocks of the host's, aligned for SIMD.

use std::collections::HashSet;
use std::ffi::c_void;
use std::fs;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// TensorFlow requires 64 bytes, and 256 of host memory from 2.22; a page is best for transfers.
const ALIGNMENT: usize = 4096;
/// From this size on a block is worth huge pages: fewer page faults, fewer TLB misses.
const HUGE: usize = 2 << 20;

/// Blocks of memory by their address.
#[derive(Debug, Default)]
pub struct Memory {
    blocks: Mutex<HashSet<usize>>,
}

impl Memory {
    /// A block of `size` bytes, aligned to a page; null if there is no memory or `size` is 0.
    pub fn allocate(&self, size: u64) -> *mut c_void {
        let start = reserve(size);
        if !start.is_null() {
            self.lock().insert(start as usize);
        }
        start
    }

    /// Gives a block back. Null, and what was not allocated here, is left alone.
    ///
    /// # Safety
    /// - Nobody accesses the block any more.
    pub unsafe fn release(&self, start: *mut c_void) {
        let is_listed = self.lock().remove(&(start as usize));
        if is_listed {
            // SAFETY: `reserve` made the block, and it was on the list, so it is still live; the caller guarantees that nobody uses it.
            unsafe { libc::free(start) }
        }
    }

    /// Returns the machine's available and total memory in bytes, or `None` if the system does not state it.
    pub fn machine() -> Option<(u64, u64)> {
        let pages = |name| u64::try_from(sysconf(name)).ok();
        let page = pages(libc::_SC_PAGESIZE)?;
        let total = pages(libc::_SC_PHYS_PAGES)? * page;
        // Pages that only cache files are not free, but a process can have them.
        let text = fs::read_to_string("/proc/meminfo").ok();
        let available = text.and_then(|text| available_bytes(&text));
        let free = || Some(pages(libc::_SC_AVPHYS_PAGES)? * page);
        Some((available.or_else(free)?.min(total), total))
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<usize>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Not through the lock, which may be held for ever in a forked child.
        let blocks = self.blocks.get_mut();
        let blocks = blocks.unwrap_or_else(PoisonError::into_inner);
        for &start in blocks.iter() {
            // SAFETY: still on the list, so `reserve` made it and nobody freed it.
            unsafe { libc::free(start as *mut c_void) }
        }
    }
}

fn reserve(size: u64) -> *mut c_void {
    let Ok(size @ 1..) = usize::try_from(size) else {
        return ptr::null_mut();
    };
    let alignment = if size >= HUGE { HUGE } else { ALIGNMENT };
    let mut start = ptr::null_mut();
    // SAFETY: the place is ours, and the alignment a power of two.
    let failed = unsafe { libc::posix_memalign(&raw mut start, alignment, size) } != 0;
    if failed {
        return ptr::null_mut();
    }
    #[cfg(target_os = "linux")]
    if size >= HUGE {
        // SAFETY: the range was just allocated; the advice changes no contents.
        unsafe { libc::madvise(start, size, libc::MADV_HUGEPAGE) };
    }
    start
}

/// Returns `MemAvailable` of the text of `/proc/meminfo`.
fn available_bytes(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn sysconf(name: libc::c_int) -> libc::c_long {
    // SAFETY: asks a number by its name.
    unsafe { libc::sysconf(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_freed_once() {
        let memory = Memory::default();
        let blocks = [1, 63, 4097, 3 << 20].map(|size| memory.allocate(size));
        assert!(
            blocks
                .iter()
                .all(|block| !block.is_null() && (*block as usize).is_multiple_of(64))
        );
        assert_eq!(memory.lock().len(), 4);
        for block in [blocks, blocks].concat() {
            // SAFETY: nobody accesses the blocks.
            unsafe { memory.release(block) };
        }
        assert!(memory.lock().is_empty());
    }

    #[test]
    fn nothing_and_too_much_give_null() {
        let memory = Memory::default();
        assert!(memory.allocate(0).is_null());
        assert!(memory.allocate(u64::MAX - 4096).is_null());
        // SAFETY: there is no block.
        unsafe { memory.release(ptr::null_mut()) };
        assert!(memory.lock().is_empty());
    }

    #[test]
    fn machine_states_available_and_total_memory() {
        let (available, total) = Memory::machine().expect("Linux states both");
        assert!(available <= total && total > 1 << 20);
    }

    #[test]
    fn available_memory_includes_caches_of_files() {
        let text = "MemTotal: 24000000 kB\nMemFree:  300000 kB\nMemAvailable:   23000000 kB\n";
        assert_eq!(available_bytes(text), Some(23_000_000 * 1024));
        assert_eq!(available_bytes("MemFree: 300000 kB\n"), None);
        assert_eq!(
            available_bytes("MemAvailable: 99999999999999999 kB\n"),
            None
        );
    }
}
