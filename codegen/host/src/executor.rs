//! One device of the plugin: its `SP_Device`, the function table, and a method per slot.

/// Calls a slot whose first parameter is the device and whose last one is a status; returns the status's error:
/// `device_call!(self, "start_timer", (stream, timer): (Ptr, Ptr))`.
macro_rules! device_call {
    ($executor:ident, $slot:literal, ($($arg:expr),*): ($($ty:ty),*)) => {
        $crate::call::status_call!(
            $executor.table, $slot, ($executor.device() $(, $arg)*): (Ptr, $($ty,)* Ptr)
        )
    };
}

mod by_address;
mod copies;
mod events;
mod memory;
mod streams;

use std::ffi::c_void;
use std::sync::Arc;

use crate::call::Ptr;
use crate::record::{GuardedStruct, StructShapes};

/// The slot that creates streams from 2.22 on, if the plugin has it.
pub(crate) const WITH_OPTIONS: &str = "create_stream_with_options";

/// A device and its functions.
pub(crate) struct Executor {
    device: GuardedStruct,
    table: Arc<GuardedStruct>,
    shapes: StructShapes,
    settings: Settings,
}

/// Facts about the platform and the release that the use of a device depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// True if the host puts its BFC allocator over the device's memory.
    pub uses_bfc: bool,
    /// The alignment in bytes that host memory must have.
    pub host_alignment: usize,
}

/// A stream of the plugin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamHandle(pub *mut c_void);

// SAFETY: the host never dereferences a stream, and the C contract allows its use on any thread.
unsafe impl Send for StreamHandle {}
// SAFETY: as above.
unsafe impl Sync for StreamHandle {}

/// An event of the plugin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventHandle(Ptr);

// SAFETY: the host never dereferences an event, and the C contract allows its use on any thread.
unsafe impl Send for EventHandle {}
// SAFETY: as above.
unsafe impl Sync for EventHandle {}

/// A timer of the plugin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimerHandle(Ptr);

/// An `SE_EventStatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventStatus {
    /// An error, or unknown.
    Failed(u32),
    Pending,
    Complete,
}

/// A block of device memory: the fields of `SP_DeviceMemoryBase`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeviceMemoryBlock {
    pub opaque: Ptr,
    pub size: u64,
}

// SAFETY: the pointer is an opaque address that the host never dereferences.
unsafe impl Send for DeviceMemoryBlock {}

impl Executor {
    pub fn new(
        device: GuardedStruct,
        table: Arc<GuardedStruct>,
        shapes: StructShapes,
        settings: Settings,
    ) -> Self {
        Self {
            device,
            table,
            shapes,
            settings,
        }
    }

    /// Returns true if tensors are parts of larger blocks, as with the BFC allocator.
    pub fn uses_bfc(&self) -> bool {
        self.settings.uses_bfc
    }

    /// Returns the alignment in bytes that host memory must have.
    pub fn host_alignment(&self) -> usize {
        self.settings.host_alignment
    }

    /// Returns true if the plugin set the slot.
    pub fn has(&self, slot: &str) -> bool {
        self.table.get(slot).is_some_and(|address| address != 0)
    }

    /// Returns true if the plugin set the slot and its `struct_size` includes the slot.
    pub fn is_set_and_covered(&self, slot: &str) -> bool {
        let end = self.table.shape().field(slot);
        let end = end.map(|field| field.offset + field.size);
        let size = self.table.get("struct_size").unwrap_or(0);
        end.is_some_and(|end| end <= size) && self.has(slot)
    }

    /// Returns true if the release has the slot.
    pub fn is_in_release(&self, slot: &str) -> bool {
        self.table.shape().field(slot).is_some()
    }

    pub fn device(&self) -> Ptr {
        self.device.address()
    }
}
