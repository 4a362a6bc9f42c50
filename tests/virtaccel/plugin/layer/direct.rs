//! Copies between the host and the device without a copy by the plugin or the driver: host memory of the driver, and commands
//! with TensorFlow's pointers.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use sp_plugin::accelerator::{
    HostMemory, HostSource, HostTarget, LateCopies, LateSource, Region, check_lengths,
};
use sp_plugin::{Code, Error, Result};

use crate::device::Virtaccel;
use crate::driver::safe::va_queue;
use crate::driver::{self, Driver, FUNCTIONS};

/// Host memory of the driver.
struct DriverMemory(usize);

impl Drop for DriverMemory {
    fn drop(&mut self) {
        if let Ok(driver) = raw_driver() {
            // SAFETY: `va_host_alloc` has returned the address, which is freed once.
            let _ = unsafe { driver.va_host_free(self.0 as *mut c_void) };
        }
    }
}

/// Returns the functions of the driver.
pub fn raw_driver() -> Result<&'static Driver> {
    Driver::get(FUNCTIONS).map_err(|error| Error::new(Code::UNAVAILABLE, error.to_string()))
}

/// Allocates host memory from which and to which the device copies directly.
pub fn host_allocate(bytes: usize) -> Result<HostMemory> {
    let mut memory = ptr::null_mut();
    // SAFETY: the pointer is that of a local variable.
    unsafe { raw_driver()?.va_host_alloc(bytes as u64, &mut memory) }?;
    let owner = Box::new(DriverMemory(memory as usize));
    let start = NonNull::new(memory.cast::<u8>());
    let start = start.ok_or_else(|| Error::internal("va_host_alloc returned no memory"))?;
    // SAFETY: the driver has allocated as many bytes, which nobody else uses, and frees them when the owner is dropped.
    unsafe {
        start.write_bytes(0, bytes);
        Ok(HostMemory::from_raw_parts(start, bytes, owner))
    }
}

/// Enqueues a copy from the host.
pub fn copy_in(
    driver: &Driver,
    queue: &va_queue,
    target: usize,
    source: HostSource<'_>,
) -> driver::Result<()> {
    // SAFETY: the copy is a command of this queue. Its fences and functions complete after the earlier commands.
    let source = unsafe { source.for_command() };
    let (host, len) = (source.as_ptr().cast(), source.len() as u64);
    // SAFETY: the layer keeps the memory until the command has completed.
    unsafe { driver.va_copy_to_device(queue.handle(), target as *mut c_void, host, len) }
}

/// Enqueues a copy to the host.
pub fn copy_out(
    driver: &Driver,
    queue: &va_queue,
    mut target: HostTarget<'_>,
    source: usize,
) -> driver::Result<()> {
    let (host, len) = (target.as_mut_ptr().cast(), target.len() as u64);
    // SAFETY: the copy is a command of the queue that has got the target. The layer keeps the memory until it has completed, and nobody
    // else uses it.
    unsafe { driver.va_copy_to_host(queue.handle(), host, source as *const c_void, len) }
}

impl LateCopies<Virtaccel> for va_queue {
    fn copy_in_late(&self, target: &Region<Virtaccel>, source: LateSource<'_>) -> Result<()> {
        check_lengths(target.len(), source.len())?;
        let (host, len) = (source.as_ptr().cast(), source.len() as u64);
        let target = (target.allocation().address() + target.offset()) as *mut c_void;
        // SAFETY: the layer keeps both memories until the command has completed. The driver reads the source when it runs.
        Ok(unsafe { raw_driver()?.va_copy_to_device(self.handle(), target, host, len) }?)
    }
}
