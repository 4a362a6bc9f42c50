//! The memory of a device as kernels that compute on the host use it: in place, or through copies.
//!
//! The type [`Device::Access`] states the choice; a [`HostAddressable`] device can change it at run time.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use sp_abi::stream_executor::SP_DeviceMemoryBase;
use sp_abi::tf_status::TF_Status;
use sp_runtime::{Prefix, Versioned};

use crate::buffer::Buffer;
use crate::synchronous::is_synchronous;
use crate::{Code, Device, Error, HostAddressable, MemoryAccess, Result};

/// Closed for other crates' types. `Access` is an `unsafe` trait too, since they can implement it for `InPlace` and their own device.
mod sealed {
    pub trait Sealed {}
    impl Sealed for super::InPlace {}
    impl Sealed for super::Staged {}
}

/// The access of host kernels to the memory of `D`: [`InPlace`] or [`Staged`].
///
/// # Safety
/// - [`memory_access`](Self::memory_access) returns [`MemoryAccess::Staged`], or what the [`HostAddressable`] device returns.
pub unsafe trait Access<D: Device>: sealed::Sealed {
    /// Returns how a kernel uses the memory of this device.
    fn memory_access(device: &D) -> MemoryAccess;
}

/// Host kernels use the device's memory as [`HostAddressable::memory_access`] returns it.
pub struct InPlace;

// SAFETY: the device is `HostAddressable`, and chooses.
unsafe impl<D: HostAddressable> Access<D> for InPlace {
    fn memory_access(device: &D) -> MemoryAccess {
        device.memory_access()
    }
}

/// Host kernels work on copies in host memory. They are counted; with `SP_FORBID_STAGED=1` in the environment a copy is
/// an error instead.
pub struct Staged;

// SAFETY: it is `Staged`.
unsafe impl<D: Device> Access<D> for Staged {
    fn memory_access(_: &D) -> MemoryAccess {
        MemoryAccess::Staged
    }
}

/// The device's memory during one call of a host kernel, without the device's type, so that kernels need no type
/// parameter for it.
pub(crate) trait DeviceMemory {
    /// Returns how the host uses the memory.
    fn access(&self) -> MemoryAccess;

    /// Waits for work that may still use memory which TensorFlow has just allocated, if the host uses it in place:
    /// TensorFlow allocates memory for later work on the stream, before earlier work has completed.
    ///
    /// # Errors
    /// Returns an error if work on the stream has failed.
    fn settle(&self) -> Result<()>;

    /// Allocates host memory for a copy.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory, or if copies are forbidden.
    fn allocate(&self, bytes: usize) -> Result<Buffer>;

    /// Copies device memory to a new buffer, after the work that is enqueued on the call's stream.
    ///
    /// # Errors
    /// Returns an error if the copy fails, or the work before it.
    ///
    /// # Safety
    /// `device` is the address of `bytes` bytes on the device.
    unsafe fn fetch(&self, device: *mut c_void, bytes: usize) -> Result<Buffer>;

    /// Copies device memory to host memory, after the work that is enqueued on the call's stream. The copy is complete when
    /// the function returns. It is neither counted nor forbidden.
    ///
    /// # Errors
    /// Returns an error if the copy fails, or the work before it.
    ///
    /// # Safety
    /// `device` is the address of `bytes` bytes on the device, and `host` of as many in host memory.
    unsafe fn read(&self, device: *mut c_void, host: *mut c_void, bytes: usize) -> Result<()>;

    /// Enqueues a copy of the buffer's first `bytes` bytes to device memory.
    ///
    /// # Errors
    /// Returns an error if the copy cannot be enqueued.
    ///
    /// # Safety
    /// `device` is the address of `bytes` bytes on the device, and the buffer is as long.
    unsafe fn store(&self, device: *mut c_void, copy: Buffer, bytes: usize) -> Result<()>;

    /// Enqueues a copy on the device.
    ///
    /// # Errors
    /// Returns an error if the copy cannot be enqueued.
    ///
    /// # Safety
    /// Both are addresses of `bytes` bytes on the device.
    unsafe fn copy(&self, source: *mut c_void, target: *mut c_void, bytes: usize) -> Result<()>;

    /// Returns what the call has copied.
    fn copies(&self) -> Copies;
}

/// The staging copies of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Copies {
    /// Bytes, in both directions.
    pub bytes: u64,
    /// Time of the calling thread, with that for the work before the copies.
    pub time: Duration,
}

/// The memory of a device, and the stream of a call.
pub(crate) struct StreamMemory<'a, D: Device> {
    device: &'a D,
    stream: &'a D::Stream,
    access: MemoryAccess,
    copies: Cell<Copies>,
}

impl<'a, D: Device> StreamMemory<'a, D> {
    /// Returns the memory. If the host uses it in place, work on the stream has completed.
    ///
    /// # Errors
    /// Returns an error if work on the stream has failed.
    pub fn open(device: &'a D, stream: &'a D::Stream) -> Result<Self> {
        let access = D::Access::memory_access(device);
        let memory = Self {
            device,
            stream,
            access,
            copies: Cell::default(),
        };
        memory.settle().map(|()| memory)
    }

    fn timed<T>(&self, bytes: usize, copy: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let copied = copy()?;
        let mut copies = self.copies.get();
        copies.bytes += bytes as u64;
        copies.time += start.elapsed();
        self.copies.set(copies);
        Ok(copied)
    }
}

impl<D: Device> DeviceMemory for StreamMemory<'_, D> {
    fn access(&self) -> MemoryAccess {
        self.access
    }

    fn settle(&self) -> Result<()> {
        match self.access {
            MemoryAccess::InPlaceAfterWait => wait(self.device, self.stream),
            MemoryAccess::InPlace | MemoryAccess::Staged => Ok(()),
        }
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer> {
        staging_buffer(self.device, bytes)
    }

    unsafe fn fetch(&self, device: *mut c_void, bytes: usize) -> Result<Buffer> {
        // Leaked after an error or a panic: the device may still write to it.
        let copy = ManuallyDrop::new(self.allocate(bytes)?);
        if bytes > 0 {
            let host = copy.start().as_ptr().cast();
            // SAFETY: the caller guarantees the source, and the buffer is as long.
            self.timed(bytes, || unsafe { self.read(device, host, bytes) })?;
        }
        Ok(ManuallyDrop::into_inner(copy))
    }

    unsafe fn read(&self, device: *mut c_void, host: *mut c_void, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let source = memory_base(device, bytes);
        let source = Prefix::from_ref(&source);
        // SAFETY: the caller guarantees both, for a copy that is complete when this function returns.
        unsafe {
            self.device
                .memcpy_dtoh(self.stream, host, source, bytes as u64)?;
        }
        wait(self.device, self.stream)
    }

    unsafe fn store(&self, device: *mut c_void, copy: Buffer, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (target, host) = (memory_base(device, bytes), copy.start().as_ptr().cast());
        // Leaked after an error or a panic of the slot: the device may still read it.
        let copy = ManuallyDrop::new(copy);
        self.timed(bytes, || {
            let target = Prefix::from_ref(&target);
            // SAFETY: the caller guarantees both; the copy is dropped after the work on the stream.
            unsafe {
                self.device
                    .memcpy_htod(self.stream, target, host, bytes as u64)?;
            }
            drop_after(self.device, self.stream, ManuallyDrop::into_inner(copy))?;
            match is_synchronous() {
                true => wait(self.device, self.stream),
                false => Ok(()),
            }
        })
    }

    unsafe fn copy(&self, source: *mut c_void, target: *mut c_void, bytes: usize) -> Result<()> {
        let (source, target) = (memory_base(source, bytes), memory_base(target, bytes));
        let (source, target) = (Prefix::from_ref(&source), Prefix::from_ref(&target));
        // SAFETY: the caller guarantees both.
        unsafe {
            self.device
                .memcpy_dtod(self.stream, target, source, bytes as u64)
        }
    }

    fn copies(&self) -> Copies {
        self.copies.get()
    }
}

/// The memory of a device of [`MemoryAccess::InPlace`], which is host memory without work in progress.
pub(crate) struct HostMemory;

impl DeviceMemory for HostMemory {
    fn access(&self) -> MemoryAccess {
        MemoryAccess::InPlace
    }

    fn settle(&self) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer> {
        Buffer::zeroed(bytes)
    }

    unsafe fn fetch(&self, device: *mut c_void, bytes: usize) -> Result<Buffer> {
        let copy = Buffer::zeroed(bytes)?;
        // SAFETY: the caller guarantees the source, which is host memory, and the buffer is as long.
        unsafe { self.copy(device, copy.start().as_ptr().cast(), bytes)? };
        Ok(copy)
    }

    unsafe fn read(&self, device: *mut c_void, host: *mut c_void, bytes: usize) -> Result<()> {
        // SAFETY: the caller guarantees both.
        unsafe { self.copy(device, host, bytes) }
    }

    unsafe fn store(&self, device: *mut c_void, copy: Buffer, bytes: usize) -> Result<()> {
        // SAFETY: the caller guarantees the target, which is host memory, and the buffer's length.
        unsafe { self.copy(copy.start().as_ptr().cast(), device, bytes) }
    }

    unsafe fn copy(&self, source: *mut c_void, target: *mut c_void, bytes: usize) -> Result<()> {
        if bytes > 0 {
            // SAFETY: the caller guarantees both, and the device's memory is host memory.
            unsafe { source.cast::<u8>().copy_to(target.cast(), bytes) };
        }
        Ok(())
    }

    fn copies(&self) -> Copies {
        Copies::default()
    }
}

/// Allocates host memory for a copy of device memory.
///
/// # Errors
/// Returns an error if there is not enough memory, or if copies are forbidden.
pub(crate) fn staging_buffer<D: Device>(device: &D, bytes: usize) -> Result<Buffer> {
    if bytes == 0 {
        return Buffer::zeroed(0);
    }
    check_allowed()?;
    Buffer::on_host_of(device, bytes)
}

/// Waits until the work on a stream has completed. `block_host_until_done` is an optional slot.
pub(crate) fn wait<D: Device>(device: &D, stream: &D::Stream) -> Result<()> {
    if D::HAS_BLOCK_HOST_UNTIL_DONE {
        return device.block_host_until_done(stream);
    }
    let event = device.create_event()?;
    let waited = device.record_event(stream, &event);
    let waited = waited.and_then(|()| device.block_host_for_event(&event));
    device.destroy_event(event);
    waited.and_then(|()| device.get_stream_status(stream))
}

/// Drops the buffer after the work that is enqueued on the stream.
fn drop_after<D: Device>(device: &D, stream: &D::Stream, buffer: Buffer) -> Result<()> {
    let argument = Box::into_raw(Box::new(buffer));
    // SAFETY: the function takes the buffer, which nobody else has. The slot calls it once, or returns 0.
    if unsafe { device.host_callback(stream, Some(drop_buffer), argument.cast()) } != 0 {
        return Ok(());
    }
    // If the wait fails the copy may still be in progress, so the buffer is leaked.
    wait(device, stream)?;
    // SAFETY: the stream has not taken the buffer.
    drop(unsafe { Box::from_raw(argument) });
    Ok(())
}

unsafe extern "C-unwind" fn drop_buffer(buffer: *mut c_void, _: *mut TF_Status) {
    sp_runtime::guard::run_with_default("a staging copy", (), || {
        // SAFETY: `drop_after` passed the box, and the stream calls this function once.
        drop(unsafe { Box::from_raw(buffer.cast::<Buffer>()) });
    });
}

/// Checks that copies are allowed.
fn check_allowed() -> Result<()> {
    static FORBIDDEN: LazyLock<bool> =
        LazyLock::new(|| sp_runtime::variable::is_on("SP_FORBID_STAGED", false));
    match *FORBIDDEN {
        false => Ok(()),
        true => Err(Error::new(
            Code::FAILED_PRECONDITION,
            "this kernel runs on the host through copies, which SP_FORBID_STAGED=1 forbids",
        )),
    }
}

/// Returns device memory as the slots name it.
pub(crate) fn memory_base(address: *mut c_void, bytes: usize) -> SP_DeviceMemoryBase {
    SP_DeviceMemoryBase {
        struct_size: SP_DeviceMemoryBase::STRUCT_SIZE,
        ext: ptr::null_mut(),
        opaque: address,
        size: bytes as u64,
        payload: 0,
    }
}
