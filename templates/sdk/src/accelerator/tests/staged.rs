//! Staging copies on a device whose wait fails: their buffers are not freed, since the device may still use them.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use sp_abi::stream_executor::{DeviceFns, SP_DeviceMemoryBase, StreamExecutor, TimerFns};
use sp_runtime::{Prefix, vtable};

use super::{Recorder, allocate};
use crate::accelerator::{AcceleratorDevice, Stream};
use crate::access::{DeviceMemory, StreamMemory};
use crate::{Description, Device, Error, Result, Staged};

/// A device that panics in copies from the host, and whose waits fail.
struct NoWaits {
    layer: AcceleratorDevice<Recorder>,
    /// The number of blocks of host memory that were freed.
    freed: AtomicUsize,
}

// SAFETY: the slots that differ from the layer's enqueue nothing.
unsafe impl Device for NoWaits {
    type Access = Staged;

    fn open(ordinal: usize) -> Result<Self> {
        AcceleratorDevice::open(ordinal).map(|layer| Self {
            layer,
            freed: AtomicUsize::new(0),
        })
    }

    fn description(&self) -> Description {
        self.layer.description()
    }
}

#[vtable(fallback = self.layer: AcceleratorDevice<Recorder>)]
impl StreamExecutor for NoWaits {
    unsafe fn host_memory_deallocate(&self, mem: *mut c_void) {
        self.freed.fetch_add(1, Ordering::SeqCst);
        // SAFETY: the caller's obligations are those of the layer.
        unsafe { self.layer.host_memory_deallocate(mem) };
    }

    unsafe fn memcpy_htod(
        &self,
        _: &Stream<Recorder>,
        _: Prefix<'_, SP_DeviceMemoryBase>,
        _: *const c_void,
        _: u64,
    ) -> Result<()> {
        panic!("the driver panics");
    }

    fn block_host_until_done(&self, _: &Stream<Recorder>) -> Result<()> {
        Err(Error::internal("the wait fails"))
    }
}

#[vtable(fallback = self.layer: AcceleratorDevice<Recorder>)]
impl DeviceFns for NoWaits {}

#[vtable(fallback = self.layer: AcceleratorDevice<Recorder>)]
impl TimerFns for NoWaits {}

#[test]
fn buffer_of_a_copy_to_the_host_is_leaked_if_the_wait_fails() {
    let device = NoWaits::open(0).unwrap();
    let memory = allocate(&device.layer, 64);
    let stream = device.create_stream().unwrap();
    let staged = StreamMemory::open(&device, &stream).unwrap();
    // SAFETY: the block is live, and has 64 bytes.
    let fetched = unsafe { staged.fetch(memory.opaque, 64) };
    assert!(fetched.is_err());
    assert_eq!(device.freed.load(Ordering::SeqCst), 0);
}

#[test]
fn buffer_of_a_copy_from_the_host_is_leaked_if_the_slot_panics() {
    let device = NoWaits::open(0).unwrap();
    let memory = allocate(&device.layer, 64);
    let stream = device.create_stream().unwrap();
    let staged = StreamMemory::open(&device, &stream).unwrap();
    let buffer = staged.allocate(64).unwrap();
    // SAFETY: the block is live, and has 64 bytes.
    let store = || unsafe { staged.store(memory.opaque, buffer, 64) };
    assert!(catch_unwind(AssertUnwindSafe(store)).is_err());
    assert_eq!(device.freed.load(Ordering::SeqCst), 0);
}
