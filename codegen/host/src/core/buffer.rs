//! `TF_Buffer`: bytes with a deallocator. Plugins read its fields, so its layout is C's.

use std::ffi::c_void;

use super::argument::{Arg, List};
use super::failure::{StatusResult, invalid};
use super::functions::functions;
use crate::memory::HostMemory;
use crate::objects::{self, HostObject, ObjectKind, Owner};

type Deallocator = extern "C" fn(*mut c_void, usize);

/// The object behind `TF_Buffer*`: the three public fields, then the host's memory.
#[repr(C)]
pub(crate) struct BufferObject {
    data: *const c_void,
    length: usize,
    deallocator: Option<Deallocator>,
    own: Option<HostMemory>,
}

/// The three public fields.
#[repr(C)]
pub(super) struct BufferFields {
    data: *const c_void,
    length: usize,
    deallocator: Option<Deallocator>,
}

// SAFETY: the owner of the buffer owns the memory, and the C contract allows buffers to change threads.
unsafe impl Send for BufferObject {}
// SAFETY: as above; nothing here changes behind a shared reference.
unsafe impl Sync for BufferObject {}

impl HostObject for BufferObject {
    const KIND: ObjectKind = ObjectKind::Buffer;
}

impl BufferObject {
    /// Returns an empty buffer.
    pub fn empty() -> Self {
        Self {
            data: std::ptr::null(),
            length: 0,
            deallocator: None,
            own: None,
        }
    }

    /// Returns a buffer with a copy of `bytes` in the host's memory.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let own = HostMemory::from_bytes(bytes);
        Self {
            data: own.data().cast_const(),
            length: bytes.len(),
            deallocator: None,
            own: Some(own),
        }
    }

    /// Returns the bytes that the public fields describe.
    pub fn bytes(&self) -> &[u8] {
        match self.data.is_null() {
            true => &[],
            // SAFETY: the owner of the buffer guarantees that `data` has `length` bytes.
            false => unsafe { std::slice::from_raw_parts(self.data.cast(), self.length) },
        }
    }
}

/// Puts a copy of `bytes` into a plugin's empty buffer, to be freed with it.
pub(super) fn fill(buffer: &Arg<BufferObject>, bytes: &[u8]) -> StatusResult<()> {
    let Some(found) = buffer.find() else {
        return Err(invalid("there is no such TF_Buffer"));
    };
    if !found.data.is_null() {
        return Err(invalid("a TF_Buffer that is filled must be empty"));
    }
    let buffer = buffer.address();
    // SAFETY: the registry has the buffer, and the C contract makes access exclusive for the call. The block of
    // malloc has as many bytes as are copied.
    unsafe {
        let copy = libc::malloc(bytes.len().max(1));
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), copy.cast(), bytes.len());
        (&raw mut (*buffer).data).write(copy);
        (&raw mut (*buffer).length).write(bytes.len());
        (&raw mut (*buffer).deallocator).write(Some(release));
    }
    Ok(())
}

extern "C" fn release(data: *mut c_void, _length: usize) {
    // SAFETY: `fill` took it from malloc, and a buffer's deallocator is called once.
    unsafe { libc::free(data) }
}

impl Drop for BufferObject {
    fn drop(&mut self) {
        if let (Some(free), None) = (self.deallocator, &self.own) {
            free(self.data.cast_mut(), self.length);
        }
    }
}

functions! {
    fn TF_NewBuffer() -> *mut BufferObject {
        objects::create(BufferObject::empty(), Owner::Plugin)
    }

    fn TF_NewBufferFromString(bytes: List<u8>, length: usize) -> *mut BufferObject {
        objects::create(BufferObject::from_bytes(bytes.values(length)), Owner::Plugin)
    }

    fn TF_DeleteBuffer(buffer: Arg<BufferObject>) {
        drop(buffer.take(CALL));
    }

    fn TF_GetBuffer(buffer: Arg<BufferObject>) -> BufferFields {
        match buffer.get(CALL) {
            Some(found) => {
                BufferFields { data: found.data, length: found.length, deallocator: found.deallocator }
            }
            None => BufferFields { data: std::ptr::null(), length: 0, deallocator: None },
        }
    }
}
