//! Device and host memory.

use std::alloc::{self, Layout};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use super::{check_target, guard, write, write_struct};
use crate::abi::{PointerInfo, Status};
use crate::memory::{self, PAGE, region};
use crate::registry::DEVICES;

/// The layouts of `va_host_alloc`'s allocations.
static HOST: Mutex<BTreeMap<usize, Layout>> = Mutex::new(BTreeMap::new());

/// # Safety
/// - `address` is null, or valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_alloc(device: usize, size: u64, address: *mut *mut c_void) -> Status {
    guard(|| {
        check_target(address)?;
        let allocated = memory::allocate(DEVICES.get(device)?, size)?;
        // SAFETY: the caller's obligation.
        unsafe { write(address, allocated as *mut c_void) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_free(device: usize, address: *mut c_void) -> Status {
    guard(|| memory::free(&DEVICES.get(device)?, address as usize))
}

/// # Safety
/// - `info` is null, or valid for as many bytes as its `struct_size`.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_pointer_get_info(address: *const c_void, info: *mut PointerInfo) -> Status {
    guard(|| {
        let allocation = region(address as usize, 1)?.allocation;
        let is_owner = |device: &crate::device::Device| device.ordinal == allocation.device.ordinal;
        let info_of_allocation = PointerInfo {
            struct_size: size_of::<PointerInfo>(),
            base: allocation.address() as *mut c_void,
            size: allocation.size() as u64,
            device: DEVICES.find(is_owner).unwrap_or(0),
        };
        // SAFETY: the caller's obligation.
        unsafe { write_struct(info, info_of_allocation) }
    })
}

/// # Safety
/// - `memory` is null, or valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_host_alloc(size: u64, memory: *mut *mut c_void) -> Status {
    guard(|| {
        check_target(memory)?;
        let bytes = usize::try_from(size).map_err(|_| Status::OUT_OF_MEMORY)?;
        let layout = Layout::from_size_align(bytes, PAGE).map_err(|_| Status::OUT_OF_MEMORY)?;
        if bytes == 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the size is not 0.
        let allocated = unsafe { alloc::alloc(layout) };
        if allocated.is_null() {
            return Err(Status::OUT_OF_MEMORY);
        }
        let mut host = HOST.lock().unwrap_or_else(PoisonError::into_inner);
        host.insert(allocated as usize, layout);
        // SAFETY: the caller's obligation.
        unsafe { write(memory, allocated.cast()) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_host_free(memory: *mut c_void) -> Status {
    guard(|| {
        let mut host = HOST.lock().unwrap_or_else(PoisonError::into_inner);
        let layout = host
            .remove(&(memory as usize))
            .ok_or(Status::INVALID_ADDRESS)?;
        // SAFETY: `va_host_alloc` allocated it with this layout, and the entry was removed, so it is freed once.
        unsafe { alloc::dealloc(memory.cast(), layout) };
        Ok(())
    })
}

/// Returns true if two addresses belong to one device.
pub fn same_device(a: &memory::Region, device: &Arc<crate::device::Device>) -> bool {
    Arc::ptr_eq(&a.allocation.device, device)
}
