//! Device and host memory.

use std::ffi::c_void;
use std::sync::Arc;

use super::{check_target, guard, since, write, write_struct};
use crate::abi::{CopyCounts, PointerInfo, Status};
use crate::host_memory;
use crate::memory::{self, region};
use crate::registry::DEVICES;

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
        let allocated = host_memory::allocate(size)?;
        // SAFETY: the caller's obligation.
        unsafe { write(memory, allocated as *mut c_void) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_host_free(memory: *mut c_void) -> Status {
    guard(|| host_memory::free(memory as usize))
}

/// # Safety
/// - `counts` is null, or valid for as many bytes as its `struct_size`.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_get_copy_counts(counts: *mut CopyCounts) -> Status {
    guard(|| {
        since(3)?;
        // SAFETY: the caller's obligation.
        unsafe { write_struct(counts, host_memory::counts()) }
    })
}

/// Returns true if two addresses belong to one device.
pub fn same_device(a: &memory::Region, device: &Arc<crate::device::Device>) -> bool {
    Arc::ptr_eq(&a.allocation.device, device)
}
