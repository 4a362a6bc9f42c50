//! Memory of tensors: the host's, a plugin's or the device's. Each variant is freed in its own way.

use std::ffi::c_void;
use std::sync::Arc;

use crate::executor::{DeviceMemoryBlock, Executor};
use crate::memory::{ALIGNMENT, HostMemory, POISON};
use crate::{Error, StatusCode};

/// Offset of a tensor in its block if the plugin uses the BFC allocator, whose tensors are parts of larger
/// blocks.
const TENSOR_OFFSET: usize = 256;

/// Function of a plugin that frees the memory of a tensor.
pub(crate) type Deallocator = unsafe extern "C" fn(*mut c_void, usize, *mut c_void);

/// The memory of a tensor's elements.
pub(crate) struct TensorBuffer {
    data: *mut c_void,
    len: usize,
    memory: ElementMemory,
}

enum ElementMemory {
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

// SAFETY: the buffer is the only owner of its pointers, and the C contract allows tensors to change threads.
unsafe impl Send for TensorBuffer {}
// SAFETY: as above; the host writes through the pointers only while no kernel runs.
unsafe impl Sync for TensorBuffer {}

impl TensorBuffer {
    /// Allocates host memory of `len` bytes.
    pub fn host(len: usize) -> Self {
        Self::from_host_memory(HostMemory::poisoned(len))
    }

    /// Wraps host memory.
    pub fn from_host_memory(memory: HostMemory) -> Self {
        Self {
            data: memory.data(),
            len: memory.len(),
            memory: ElementMemory::Host(memory),
        }
    }

    /// Wraps a plugin's memory. As in TensorFlow, memory that is not aligned is copied and freed at once.
    ///
    /// # Safety
    /// - `data` is null or has `len` initialised bytes, which are valid until the value calls `deallocator`, or until it is
    ///   dropped if there is none.
    /// - `deallocator` may be called once with `data`, `len` and `argument`, on any thread.
    pub unsafe fn foreign(
        data: *mut c_void,
        len: usize,
        deallocator: Option<Deallocator>,
        argument: *mut c_void,
    ) -> Self {
        let wrapped = Self {
            data,
            len,
            memory: ElementMemory::Foreign {
                deallocator,
                argument,
            },
        };
        match data.is_null() || (data as usize).is_multiple_of(ALIGNMENT) {
            true => wrapped,
            false => Self::from_host_memory(HostMemory::from_bytes(wrapped.host_bytes())),
        }
    }

    /// Wraps device memory at `data`, inside the block `allocation` of the plugin.
    pub fn device(
        executor: Arc<Executor>,
        allocation: *mut c_void,
        data: *mut c_void,
        len: usize,
    ) -> Self {
        Self {
            data,
            len,
            memory: ElementMemory::Device {
                executor,
                allocation,
            },
        }
    }

    /// Allocates device memory for a tensor of `len` bytes, filled with [`POISON`].
    pub fn allocate_on(executor: &Arc<Executor>, len: usize) -> Result<Self, Error> {
        if len == 0 {
            return Ok(Self::empty());
        }
        let offset = if executor.uses_bfc() {
            TENSOR_OFFSET
        } else {
            0
        };
        let block = executor.allocate(len.saturating_add(offset) as u64)?;
        if block.opaque.is_null() {
            return Err(Error::Status {
                call: format!("allocate of {len} bytes"),
                code: StatusCode::RESOURCE_EXHAUSTED,
                message: "OOM when allocating tensor".into(),
            });
        }
        if !(block.opaque as usize).is_multiple_of(ALIGNMENT) {
            let text = format!(
                "allocate returned {:p}, which is not aligned to 64 bytes",
                block.opaque
            );
            return Err(Error::Refused(text));
        }
        let data = block.opaque.wrapping_byte_add(offset);
        let buffer = Self::device(Arc::clone(executor), block.opaque, data, len);
        executor.sync_htod(
            DeviceMemoryBlock {
                opaque: data,
                size: len as u64,
            },
            &vec![POISON; len],
        )?;
        Ok(buffer)
    }

    /// Returns the buffer of a device tensor without elements.
    pub fn empty() -> Self {
        let memory = ElementMemory::Foreign {
            deallocator: None,
            argument: std::ptr::null_mut(),
        };
        Self {
            data: std::ptr::null_mut(),
            len: 0,
            memory,
        }
    }

    pub fn data(&self) -> *mut c_void {
        self.data
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn on_device(&self) -> bool {
        matches!(self.memory, ElementMemory::Device { .. })
    }

    /// Returns the bytes of memory that is not the device's.
    pub fn host_bytes(&self) -> &[u8] {
        assert!(!self.on_device(), "device memory is read by copying it out");
        match self.data.is_null() {
            true => &[],
            // SAFETY: host memory has `len` bytes, all written. A plugin that wraps memory states its length.
            false => unsafe { std::slice::from_raw_parts(self.data.cast(), self.len) },
        }
    }
}

impl Drop for TensorBuffer {
    fn drop(&mut self) {
        match &self.memory {
            ElementMemory::Host(_) => {}
            ElementMemory::Foreign {
                deallocator: None, ..
            } => {}
            ElementMemory::Foreign {
                deallocator: Some(free),
                argument,
            } => {
                // SAFETY: the plugin passed this function for this memory, and the buffer is its only owner.
                unsafe { free(self.data, self.len, *argument) }
            }
            ElementMemory::Device {
                executor,
                allocation,
            } => executor.deallocate(*allocation),
        }
    }
}
