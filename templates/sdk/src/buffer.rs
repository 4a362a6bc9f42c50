//! Host memory with the alignment that TensorFlow requires: 256 bytes from 2.22 on, 64 in earlier releases.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Device, Error, Result};

/// Alignment of host memory; TensorFlow aborts if memory has a smaller one.
pub const ALIGNMENT: usize = 256;

/// Smallest alignment of host memory that a device allocates: that of tensors in releases before 2.22.
const MIN_ALIGNMENT: usize = 64;

/// The number of blocks that devices have allocated and that were not freed.
static ON_DEVICES: AtomicUsize = AtomicUsize::new(0);

/// Returns true if no block needs a device any more. A queue of an author may free a block late.
pub(crate) fn are_all_freed() -> bool {
    ON_DEVICES.load(Ordering::Acquire) == 0
}

/// An owned block of host memory, never null, [`ALIGNMENT`] aligned unless a device has allocated it.
pub struct Buffer {
    start: NonNull<u8>,
    len: usize,
    owner: Owner,
}

enum Owner {
    /// The process's allocator.
    Heap(Layout),
    /// A device, and the function that returns the memory to it.
    Device(*const c_void, unsafe fn(*const c_void, NonNull<u8>)),
}

// SAFETY: the memory belongs to the buffer alone, and a `Device` is `Send + Sync`.
unsafe impl Send for Buffer {}
// SAFETY: a shared buffer yields only an address.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Allocates `bytes` zeroed bytes. An empty block has an address of its own too.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn zeroed(bytes: usize) -> Result<Self> {
        let layout =
            Layout::from_size_align(bytes.max(1), ALIGNMENT).map_err(|_| out_of_memory(bytes))?;
        // SAFETY: the size of the layout is at least 1.
        let start =
            NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(|| out_of_memory(bytes))?;
        let (len, owner) = (bytes, Owner::Heap(layout));
        Ok(Self { start, len, owner })
    }

    /// Allocates `bytes` uninitialized bytes of the host memory from which the device copies. The device outlives the buffer: it
    /// is leaked if TensorFlow destroys it earlier.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory, or if the device's memory is not aligned.
    pub fn on_host_of<D: Device>(device: &D, bytes: usize) -> Result<Self> {
        unsafe fn free<D: Device>(device: *const c_void, start: NonNull<u8>) {
            // SAFETY: the device has allocated the memory, which is freed once. It lives: it is not freed while the count below,
            // which has this block, is not 0.
            unsafe { (*device.cast::<D>()).host_memory_deallocate(start.as_ptr().cast()) }
            ON_DEVICES.fetch_sub(1, Ordering::Release);
        }
        let start = NonNull::new(device.host_memory_allocate(bytes as u64).cast());
        let start = start.ok_or_else(|| out_of_memory(bytes))?;
        ON_DEVICES.fetch_add(1, Ordering::Relaxed);
        let owner = Owner::Device(std::ptr::from_ref(device).cast(), free::<D>);
        let len = bytes;
        let buffer = Self { start, len, owner };
        match start.addr().get().is_multiple_of(MIN_ALIGNMENT) {
            true => Ok(buffer),
            false => fail!(
                internal,
                "the device's host memory at {start:?} is not aligned to {MIN_ALIGNMENT} bytes"
            ),
        }
    }

    /// Returns the size in bytes for which the block was allocated.
    pub fn byte_len(&self) -> usize {
        self.len
    }

    /// Returns the address of the first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Gives each byte a value, its present one if it has one. A kernel may leave bytes uninitialized, and a copy reads all.
    pub fn freeze(&mut self) {
        #[cfg(not(miri))]
        // SAFETY: the code is empty. The compiler has to assume that it writes the block, which has no other user.
        unsafe {
            std::arch::asm!("/* {0} */", in(reg) self.start.as_ptr(), options(nostack, preserves_flags));
        }
    }
}

fn out_of_memory(bytes: usize) -> Error {
    Error::resource_exhausted(format!("{bytes} bytes of host memory are not available"))
}

impl Drop for Buffer {
    fn drop(&mut self) {
        match self.owner {
            // SAFETY: `zeroed` allocated the block with this layout, and it is freed only here.
            Owner::Heap(layout) => unsafe { dealloc(self.start.as_ptr(), layout) },
            // SAFETY: `on_host_of` allocated the block on this device, and it is freed only here.
            Owner::Device(device, free) => unsafe { free(device, self.start) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_their_values_when_they_are_frozen() {
        let mut buffer = Buffer::zeroed(3).unwrap();
        let bytes = buffer.start().cast::<[u8; 3]>();
        // SAFETY: the block has three bytes, which only the test uses.
        unsafe { bytes.write([1, 2, 3]) };
        buffer.freeze();
        // SAFETY: as above, and all bytes are initialized.
        assert_eq!(unsafe { bytes.read() }, [1, 2, 3]);
    }
}
