//! Addresses without memory.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use crate::error::{Error, Result};

/// A range of addresses that the process cannot read or write, and that no other allocation has. Dropping it frees the
/// addresses.
#[derive(Debug)]
pub struct AddressRange {
    start: NonNull<c_void>,
    len: usize,
}

// SAFETY: the range is addresses only, which belong to no thread.
unsafe impl Send for AddressRange {}
// SAFETY: as above.
unsafe impl Sync for AddressRange {}

impl AddressRange {
    /// Reserves at least `bytes` addresses; the first is that of a page.
    ///
    /// # Errors
    /// Returns an error if the process has too few addresses left.
    pub fn reserve(bytes: usize) -> Result<Self> {
        let (len, flags) = (
            bytes.max(1),
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // SAFETY: a new mapping at an address that the system chooses affects no other memory.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        match NonNull::new(start) {
            Some(start) if start.as_ptr() != libc::MAP_FAILED => Ok(Self { start, len }),
            _ => Err(Error::resource_exhausted(format!(
                "{bytes} addresses could not be reserved"
            ))),
        }
    }

    /// Returns the first address.
    pub fn start(&self) -> NonNull<c_void> {
        self.start
    }
}

impl Drop for AddressRange {
    fn drop(&mut self) {
        // SAFETY: `reserve` has mapped the range, which is unmapped only here. Nothing in it was ever accessible.
        unsafe { libc::munmap(self.start.as_ptr(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the size of a long range. qemu-user has a descriptor of each page: gigabytes for a range of 2^40 bytes.
    #[allow(clippy::print_stdout, reason = "the reason of a skipped test")]
    fn long_range() -> usize {
        if std::env::var_os("SP_EMULATED").is_none() {
            return 1 << 40;
        }
        println!("skipped: an emulator cannot reserve 2^40 addresses, so the test reserves 2^30");
        1 << 30
    }

    #[test]
    fn ranges_do_not_overlap_and_start_at_pages() {
        let ranges = [1, 4096, long_range()].map(|bytes| AddressRange::reserve(bytes).unwrap());
        let mut starts = ranges.each_ref().map(|it| it.start().as_ptr() as usize);
        starts.sort_unstable();
        assert!(starts.iter().all(|it| it.is_multiple_of(4096)));
        assert!(starts.windows(2).all(|it| it[0] < it[1]));
        assert!(AddressRange::reserve(usize::MAX - 4096).is_err());
    }
}
