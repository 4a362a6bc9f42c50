//! `TF_Buffer`: bytes with a way to free them. Plugins read its fields, so its layout is C's.

use std::ffi::c_void;

use super::arg::{Arg, List};
use super::functions;
use crate::ledger::{self, Kind, Object, Owner};
use crate::memory::HostMemory;

type Deallocator = extern "C" fn(*mut c_void, usize);

/// What `TF_Buffer*` points to: the three public fields, then what is the host's own.
#[repr(C)]
pub(crate) struct Buffer {
    data: *const c_void,
    length: usize,
    deallocator: Option<Deallocator>,
    own: Option<HostMemory>,
}

/// The three public fields.
#[repr(C)]
struct Fields {
    data: *const c_void,
    length: usize,
    deallocator: Option<Deallocator>,
}

// SAFETY: the pointer belongs to whoever holds the buffer; the C contract lets buffers travel.
unsafe impl Send for Buffer {}
// SAFETY: as above; nothing here changes behind a shared reference.
unsafe impl Sync for Buffer {}

impl Object for Buffer {
    const KIND: Kind = Kind::Buffer;
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let (Some(free), None) = (self.deallocator, &self.own) {
            free(self.data.cast_mut(), self.length);
        }
    }
}

functions! {
    fn TF_NewBuffer() -> *mut Buffer {
        let empty = Buffer { data: std::ptr::null(), length: 0, deallocator: None, own: None };
        ledger::give(empty, Owner::Plugin)
    }

    fn TF_NewBufferFromString(bytes: List<u8>, length: usize) -> *mut Buffer {
        let own = HostMemory::of(bytes.values(length));
        let data = own.data().cast_const();
        ledger::give(Buffer { data, length, deallocator: None, own: Some(own) }, Owner::Plugin)
    }

    fn TF_DeleteBuffer(buffer: Arg<Buffer>) {
        drop(buffer.take(CALL));
    }

    fn TF_GetBuffer(buffer: Arg<Buffer>) -> Fields {
        match buffer.get(CALL) {
            Some(found) => {
                Fields { data: found.data, length: found.length, deallocator: found.deallocator }
            }
            None => Fields { data: std::ptr::null(), length: 0, deallocator: None },
        }
    }
}
