//! A plugin that counts its heap allocations, without those of the device's memory and of copies to it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use sp_abi::stream_executor::{DeviceFns, SP_DeviceMemoryBase, StreamExecutor, TimerFns};
use sp_cpu::CpuDevice;
use sp_plugin::{Device, HostAddressable, InPlace, MemoryAccess, Result, vtable};
use sp_runtime::{Prefix, PrefixMut};

static COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static IS_PAUSED: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

// SAFETY: all calls are forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(usize::from(!IS_PAUSED.get()), Ordering::Relaxed);
        // SAFETY: the caller has the same obligations.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller has the same obligations.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of allocations so far.
#[unsafe(no_mangle)]
pub extern "C" fn sp_test_allocations() -> usize {
    COUNT.load(Ordering::Relaxed)
}

struct CountedDevice {
    reference: CpuDevice,
}

// SAFETY: the slots are those of the reference device.
unsafe impl Device for CountedDevice {
    type Access = InPlace;

    fn open(_: usize) -> Result<Self> {
        let reference = CpuDevice::new();
        Ok(Self { reference })
    }
}

// SAFETY: all memory is the reference device's, which is the host's own, and its streams are inline.
unsafe impl HostAddressable for CountedDevice {
    fn memory_access(&self) -> MemoryAccess {
        MemoryAccess::InPlace
    }
}

/// Calls a function whose allocations do not count.
fn without_count<T>(function: impl FnOnce() -> T) -> T {
    IS_PAUSED.set(true);
    let result = function();
    IS_PAUSED.set(false);
    result
}

#[vtable(fallback = self.reference: CpuDevice)]
impl StreamExecutor for CountedDevice {
    unsafe fn allocate(&self, size: u64, space: i64, memory: PrefixMut<'_, SP_DeviceMemoryBase>) {
        // SAFETY: the caller has the same obligations.
        without_count(|| unsafe { self.reference.allocate(size, space, memory) });
    }

    unsafe fn deallocate(&self, memory: PrefixMut<'_, SP_DeviceMemoryBase>) {
        // SAFETY: the caller has the same obligations.
        without_count(|| unsafe { self.reference.deallocate(memory) });
    }

    unsafe fn sync_memcpy_htod(
        &self,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        host_src: *const c_void,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        without_count(|| unsafe { self.reference.sync_memcpy_htod(device_dst, host_src, size) })
    }
}

#[vtable(fallback = self.reference: CpuDevice)]
impl DeviceFns for CountedDevice {}

#[vtable(fallback = self.reference: CpuDevice)]
impl TimerFns for CountedDevice {}

sp_plugin::plugin! {
    device: CountedDevice,
    device_type: c"COUNTED",
    platform_name: c"COUNTED",
    kernels: [sp_cpu::kernels::table],
}
