//! Device memory: each allocation is one file in memory, mapped twice.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::abi::{Result, Status};
use crate::access::{Access, overlap};
use crate::device::Device;

/// Size and alignment of a page.
pub const PAGE: usize = 4096;

/// An allocation of a device.
pub struct Allocation {
    /// Its device.
    pub device: Arc<Device>,
    /// The address without access, which the caller sees.
    address: usize,
    /// The driver's own address.
    mapped: usize,
    /// The requested size.
    size: usize,
    /// True after `va_free`.
    is_freed: AtomicBool,
}

/// A part of an allocation, which stays mapped as long as the region exists.
#[derive(Clone)]
pub struct Region {
    /// The allocation.
    pub allocation: Arc<Allocation>,
    offset: usize,
    /// Length in bytes.
    pub len: usize,
}

/// The allocations of all devices by address.
static ALLOCATIONS: Mutex<BTreeMap<usize, Arc<Allocation>>> = Mutex::new(BTreeMap::new());

fn lock() -> MutexGuard<'static, BTreeMap<usize, Arc<Allocation>>> {
    ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates memory and returns its address.
pub fn allocate(device: Arc<Device>, size: u64) -> Result<usize> {
    let bytes = usize::try_from(size).map_err(|_| Status::OUT_OF_MEMORY)?;
    if bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    device.reserve(size)?;
    let (address, mapped) = map_twice(bytes).inspect_err(|_| device.release(size))?;
    let allocation = Allocation {
        device,
        address,
        mapped,
        size: bytes,
        is_freed: AtomicBool::new(false),
    };
    lock().insert(address, Arc::new(allocation));
    Ok(address)
}

/// Frees the allocation that begins at `address`, which must belong to `device`.
pub fn free(device: &Arc<Device>, address: usize) -> Result {
    let mut allocations = lock();
    let allocation = allocations.get(&address).ok_or(Status::INVALID_ADDRESS)?;
    if !Arc::ptr_eq(&allocation.device, device) {
        return Err(Status::INVALID_ADDRESS);
    }
    allocation.is_freed.store(true, Ordering::Release);
    allocation.device.release(allocation.size as u64);
    allocations.remove(&address);
    Ok(())
}

/// Returns the region of `len` bytes at `address`.
pub fn region(address: usize, len: u64) -> Result<Region> {
    let len = usize::try_from(len).map_err(|_| Status::INVALID_ADDRESS)?;
    let allocations = lock();
    let (_, allocation) = allocations
        .range(..=address)
        .next_back()
        .ok_or(Status::INVALID_ADDRESS)?;
    let offset = address - allocation.address;
    let is_inside = offset < allocation.size && len <= allocation.size - offset;
    is_inside
        .then(|| Region {
            allocation: allocation.clone(),
            offset,
            len,
        })
        .ok_or(Status::INVALID_ADDRESS)
}

/// Returns an error if a range of host memory is null or overlaps device memory.
pub fn check_host(address: usize, len: u64) -> Result {
    let end = usize::try_from(len)
        .ok()
        .and_then(|len| address.checked_add(len));
    let end = end.ok_or(Status::INVALID_VALUE)?;
    if address == 0 && len > 0 {
        return Err(Status::INVALID_VALUE);
    }
    let is_device =
        |allocation: &Arc<Allocation>| overlap(&allocation.addresses(), &(address..end));
    match lock().range(..end).next_back() {
        Some((_, allocation)) if is_device(allocation) => Err(Status::INVALID_ADDRESS),
        _ => Ok(()),
    }
}

impl Allocation {
    /// Returns the address that the caller sees.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Returns the requested size.
    pub fn size(&self) -> usize {
        self.size
    }

    fn addresses(&self) -> Range<usize> {
        self.address..self.address + self.size
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        for address in [self.address, self.mapped] {
            // SAFETY: `map_twice` mapped both addresses with this size. No region refers to the allocation any more.
            unsafe { libc::munmap(address as *mut c_void, round_up(self.size)) };
        }
    }
}

impl Region {
    /// Returns the driver's address of the region.
    pub fn pointer(&self) -> *mut u8 {
        (self.allocation.mapped + self.offset) as *mut u8
    }

    /// Returns the access that an operation needs.
    pub fn access(&self, writes: bool) -> Access {
        let start = self.pointer() as usize;
        Access {
            range: start..start + self.len,
            writes,
        }
    }

    /// Returns an error if the memory was freed.
    pub fn check(&self) -> Result {
        match self.allocation.is_freed.load(Ordering::Acquire) {
            true => Err(Status::ADDRESS_FAULT),
            false => Ok(()),
        }
    }
}

fn round_up(size: usize) -> usize {
    size.saturating_add(PAGE - 1) / PAGE * PAGE
}

/// Maps a new file in memory without access and with access.
fn map_twice(size: usize) -> Result<(usize, usize)> {
    // SAFETY: the name is a C string.
    let file = unsafe { libc::memfd_create(c"virtaccel".as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        return Err(Status::OUT_OF_MEMORY);
    }
    let mapped = map_file(file, round_up(size));
    // SAFETY: `memfd_create` returned the descriptor, and mappings do not need it.
    unsafe { libc::close(file) };
    mapped
}

fn map_file(file: i32, size: usize) -> Result<(usize, usize)> {
    let len = libc::off_t::try_from(size).map_err(|_| Status::OUT_OF_MEMORY)?;
    // SAFETY: the descriptor is open.
    if unsafe { libc::ftruncate(file, len) } != 0 {
        return Err(Status::OUT_OF_MEMORY);
    }
    let address = map(file, size, libc::PROT_NONE)?;
    let mapped = map(file, size, libc::PROT_READ | libc::PROT_WRITE);
    if mapped.is_err() {
        // SAFETY: it was mapped above with this size, and nothing refers to it.
        unsafe { libc::munmap(address as *mut c_void, size) };
    }
    Ok((address, mapped?))
}

fn map(file: i32, size: usize, protection: i32) -> Result<usize> {
    // SAFETY: without MAP_FIXED the call replaces no existing mapping.
    let address =
        unsafe { libc::mmap(ptr::null_mut(), size, protection, libc::MAP_SHARED, file, 0) };
    match address {
        libc::MAP_FAILED => Err(Status::OUT_OF_MEMORY),
        address => Ok(address as usize),
    }
}
