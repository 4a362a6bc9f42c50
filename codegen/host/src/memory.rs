//! Memory behind tensors: the host's own, a plugin's, or the device's. Each knows how it is freed.
//!
//! Invariant: host memory is aligned to 64 bytes and initialised.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::executor::Executor;

/// What TensorFlow aligns tensors to, and aborts on less.
pub(crate) const ALIGNMENT: usize = 64;

/// What fresh memory is filled with, so that a kernel that reads what nobody wrote shows.
pub(crate) const POISON: u8 = 0xa5;

/// Aligned host memory.
#[derive(Debug)]
pub(crate) struct HostMemory {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it is plain memory with one owner.
unsafe impl Send for HostMemory {}
// SAFETY: as above; writing needs `&mut`.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Memory of `len` bytes, poisoned.
    pub fn poisoned(len: usize) -> Self {
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc(Self::layout(len)) };
        let Some(start) = NonNull::new(start) else {
            handle_alloc_error(Self::layout(len))
        };
        // SAFETY: the allocation has at least `len` bytes.
        unsafe { start.write_bytes(POISON, len) };
        Self { start, len }
    }

    /// Memory with a copy of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let mut memory = Self::poisoned(bytes.len());
        memory.bytes_mut().copy_from_slice(bytes);
        memory
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len.max(1), ALIGNMENT).expect("a tensor fits the address space")
    }

    pub fn data(&self) -> *mut c_void {
        self.start.as_ptr().cast()
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation has `len` bytes, all written.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the owner is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Clone for HostMemory {
    fn clone(&self) -> Self {
        Self::of(self.bytes())
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: made by `alloc` with the same layout.
        unsafe { dealloc(self.start.as_ptr(), Self::layout(self.len)) }
    }
}

/// How a plugin frees what it wrapped in a tensor.
pub(crate) type Deallocator = unsafe extern "C" fn(*mut c_void, usize, *mut c_void);

/// What a tensor's elements stand in.
pub(crate) struct Buffer {
    data: *mut c_void,
    len: usize,
    place: Place,
}

enum Place {
    Host(#[expect(dead_code, reason = "held to be freed")] HostMemory),
    Foreign {
        deallocator: Option<Deallocator>,
        argument: *mut c_void,
    },
    Device {
        executor: Arc<Executor>,
        allocation: *mut c_void,
    },
}

// SAFETY: the pointers are freed by the one owner, and the C contract lets tensors travel.
unsafe impl Send for Buffer {}
// SAFETY: as above; the host writes through them only before a kernel runs or after it.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Host memory of `len` bytes.
    pub fn host(len: usize) -> Self {
        Self::held(HostMemory::poisoned(len))
    }

    /// Host memory that is there already.
    pub fn held(memory: HostMemory) -> Self {
        Self {
            data: memory.data(),
            len: memory.len,
            place: Place::Host(memory),
        }
    }

    /// A plugin's memory. As in TensorFlow, what is not aligned is copied and freed at once.
    pub fn foreign(
        data: *mut c_void,
        len: usize,
        deallocator: Option<Deallocator>,
        argument: *mut c_void,
    ) -> Self {
        let wrapped = Self {
            data,
            len,
            place: Place::Foreign {
                deallocator,
                argument,
            },
        };
        match data.is_null() || (data as usize).is_multiple_of(ALIGNMENT) {
            true => wrapped,
            false => Self::held(HostMemory::of(wrapped.host_bytes())),
        }
    }

    /// Device memory at `data` inside the block that the plugin's `allocate` gave.
    pub fn device(
        executor: Arc<Executor>,
        allocation: *mut c_void,
        data: *mut c_void,
        len: usize,
    ) -> Self {
        Self {
            data,
            len,
            place: Place::Device {
                executor,
                allocation,
            },
        }
    }

    /// A device tensor without elements.
    pub fn empty() -> Self {
        let place = Place::Foreign {
            deallocator: None,
            argument: std::ptr::null_mut(),
        };
        Self {
            data: std::ptr::null_mut(),
            len: 0,
            place,
        }
    }

    pub fn data(&self) -> *mut c_void {
        self.data
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn on_device(&self) -> bool {
        matches!(self.place, Place::Device { .. })
    }

    /// The bytes, of memory that is not the device's.
    pub fn host_bytes(&self) -> &[u8] {
        assert!(!self.on_device(), "device memory is read by copying it out");
        match self.data.is_null() {
            true => &[],
            // SAFETY: host memory of `len` bytes, or a plugin's that it says has as many.
            false => unsafe { std::slice::from_raw_parts(self.data.cast(), self.len) },
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        match &self.place {
            Place::Host(_) => {}
            Place::Foreign {
                deallocator: None, ..
            } => {}
            Place::Foreign {
                deallocator: Some(free),
                argument,
            } => {
                // SAFETY: the plugin gave this function for this data, and this is the last user.
                unsafe { free(self.data, self.len, *argument) }
            }
            Place::Device {
                executor,
                allocation,
            } => executor.deallocate(*allocation),
        }
    }
}
