//! The device: memory, queues and fences of virtaccel behind TensorFlow's tables.
//!
//! Kernels and copies are enqueued and return. An error of queued work is the queue's sticky error, which the next copy, launch or
//! synchronization returns. Fences and host functions run all the same, so TensorFlow never waits for ever.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use sp_abi::stream_executor::{
    DeviceFns, SE_EventStatus, SE_StatusCallbackFn, SP_AllocatorStats, SP_DeviceMemoryBase,
    StreamExecutor, TimerFns,
};
use sp_plugin::kernel::Context;
use sp_plugin::{Code, Description, Device, Error, Result, Staged, vtable};
use sp_runtime::{Prefix, PrefixMut, Status};

use crate::driver::{self, Driver, va_device, va_device_info, va_fence, va_queue, va_status};

/// Functions without which the plugin has no device. `va_fence_elapsed` and others are from later versions.
const REQUIRED: &[&str] = &[
    "va_driver_version",
    "va_device_count",
    "va_device_open",
    "va_device_get_info",
    "va_device_synchronize",
    "va_alloc",
    "va_free",
    "va_host_alloc",
    "va_host_free",
    "va_queue_create",
    "va_queue_destroy",
    "va_queue_synchronize",
    "va_queue_query",
    "va_queue_get_error",
    "va_copy_to_device",
    "va_copy_to_host",
    "va_copy_within",
    "va_fill",
    "va_launch_host_function",
    "va_launch",
    "va_fence_create",
    "va_fence_destroy",
    "va_fence_record",
    "va_fence_wait",
    "va_fence_synchronize",
    "va_fence_query",
];

/// The first driver version that has all of them.
const MIN_VERSION: u32 = 1 << 16 | 1;

/// Returns the driver.
pub fn driver() -> Result<&'static Driver> {
    Driver::get(REQUIRED).map_err(|error| Error::new(Code::UNAVAILABLE, error.to_string()))
}

/// Converts a failed call. Running out of memory has a code of its own, by which TensorFlow retries.
pub fn error(error: driver::Error) -> Error {
    let code = match error {
        driver::Error::Status {
            status: va_status::VA_ERROR_OUT_OF_MEMORY,
            ..
        } => Code::RESOURCE_EXHAUSTED,
        _ => Code::INTERNAL,
    };
    Error::new(code, error.to_string())
}

/// One device.
pub struct Vaccel {
    driver: &'static Driver,
    device: va_device,
}

/// A stream: a queue of the driver.
pub struct Stream {
    queue: va_queue,
}

/// A timer: a fence at its start and one at its end.
pub struct Timer {
    start: va_fence,
    stop: va_fence,
}

// SAFETY: the driver allocates blocks of the asked size, copies the given bytes only, and calls a function once.
unsafe impl Device for Vaccel {
    // The host cannot access device memory: kernels of sp-cpu use staging copies.
    type Access = Staged;

    fn count() -> Result<usize> {
        let driver = driver()?;
        let (mut version, mut count) = (0, 0);
        // SAFETY: the pointers are those of local variables.
        unsafe { driver.va_driver_version(&mut version) }.map_err(error)?;
        if version < MIN_VERSION {
            let message = format!(
                "the driver's version is {}.{}, expected 1.1 or later",
                version >> 16,
                version & 0xffff
            );
            return Err(Error::new(Code::UNAVAILABLE, message));
        }
        // SAFETY: as above.
        unsafe { driver.va_device_count(&mut count) }.map_err(error)?;
        Ok(count as usize)
    }

    fn open(ordinal: usize) -> Result<Self> {
        let (driver, mut device) = (driver()?, va_device::NULL);
        // SAFETY: the pointer is that of a local variable.
        unsafe { driver.va_device_open(ordinal as u32, &mut device) }.map_err(error)?;
        Ok(Self { driver, device })
    }

    fn description(&self) -> Description {
        Description {
            hardware_name: Some(c"Virtual Accelerator"),
            vendor: Some(c"sp-gen"),
            ..Description::default()
        }
    }
}

/// Enqueues a kernel of the driver.
pub fn launch(
    context: &Context<'_, Vaccel>,
    kernel: &CStr,
    arguments: &[driver::va_argument],
) -> Result<()> {
    let (device, stream) = (context.device(), context.stream());
    device.launch(stream, kernel, arguments)
}

impl Vaccel {
    fn launch(
        &self,
        stream: &Stream,
        kernel: &CStr,
        arguments: &[driver::va_argument],
    ) -> Result<()> {
        // SAFETY: the name and the arguments are valid for the call, and the driver checks addresses.
        unsafe {
            self.driver.va_launch(
                stream.queue,
                kernel.as_ptr(),
                arguments.as_ptr(),
                arguments.len() as u32,
            )
        }
        .map_err(|failed| self.sticky(stream, failed))
    }

    /// Returns the error of a call on a stream, with the operation whose failure is the queue's sticky error.
    fn sticky(&self, stream: &Stream, failed: driver::Error) -> Error {
        let (mut status, mut name) = (va_status::VA_OK, [0 as c_char; 64]);
        // SAFETY: the pointers are those of local variables with these sizes.
        let read = unsafe {
            self.driver.va_queue_get_error(
                stream.queue,
                0,
                &mut status,
                name.as_mut_ptr(),
                name.len(),
            )
        };
        if read.is_err() || status == va_status::VA_OK {
            return error(failed);
        }
        // SAFETY: the driver wrote a C string.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy();
        Error::internal(format!("{name} failed earlier on this stream: {status:?}"))
    }

    fn fence(&self) -> Result<va_fence> {
        let mut fence = va_fence::NULL;
        // SAFETY: the pointer is that of a local variable.
        unsafe { self.driver.va_fence_create(self.device, &mut fence) }.map_err(error)?;
        Ok(fence)
    }

    /// Waits for the work of a stream.
    fn wait(&self, stream: &Stream) -> Result<()> {
        // SAFETY: any handle is allowed.
        unsafe { self.driver.va_queue_synchronize(stream.queue) }
            .map_err(|failed| self.sticky(stream, failed))
    }

    /// Runs `work` on a queue of its own and waits.
    fn synchronously(&self, work: impl FnOnce(&Stream) -> Result<()>) -> Result<()> {
        let stream = self.create_stream()?;
        let done = work(&stream).and_then(|()| self.wait(&stream));
        self.destroy_stream(stream);
        done
    }

    fn info(&self) -> Option<va_device_info> {
        let mut info = va_device_info {
            struct_size: size_of::<va_device_info>(),
            ..Default::default()
        };
        // SAFETY: `struct_size` is that of the struct.
        unsafe { self.driver.va_device_get_info(self.device, &mut info) }.ok()?;
        Some(info)
    }
}

/// Returns the region's address, or an error if it holds fewer than `size` bytes.
fn address(region: Prefix<'_, SP_DeviceMemoryBase>, size: u64) -> Result<*mut c_void> {
    match region.get(SP_DeviceMemoryBase::size) {
        Some(len) if len < size => Err(Error::invalid_argument(format!(
            "{size} bytes of a region of {len}"
        ))),
        _ => Ok(region
            .get(SP_DeviceMemoryBase::opaque)
            .unwrap_or(ptr::null_mut())),
    }
}

#[vtable]
impl StreamExecutor for Vaccel {
    type Stream = Stream;
    type Event = va_fence;
    type Timer = Timer;

    unsafe fn allocate(&self, size: u64, _: i64, mut mem: PrefixMut<'_, SP_DeviceMemoryBase>) {
        let mut address = ptr::null_mut();
        // SAFETY: the pointer is that of a local variable.
        let allocated = unsafe { self.driver.va_alloc(self.device, size, &mut address) };
        mem.set_struct_size();
        mem.set(SP_DeviceMemoryBase::opaque, address);
        mem.set(
            SP_DeviceMemoryBase::size,
            if allocated.is_ok() { size } else { 0 },
        );
    }

    unsafe fn deallocate(&self, mut memory: PrefixMut<'_, SP_DeviceMemoryBase>) {
        let address = memory
            .get(SP_DeviceMemoryBase::opaque)
            .unwrap_or(ptr::null_mut());
        // SAFETY: any address is allowed. An error means that it was not allocated, or is null.
        let _ = unsafe { self.driver.va_free(self.device, address) };
        memory.set(SP_DeviceMemoryBase::opaque, ptr::null_mut());
        memory.set(SP_DeviceMemoryBase::size, 0);
    }

    fn host_memory_allocate(&self, size: u64) -> *mut c_void {
        let mut memory = ptr::null_mut();
        // SAFETY: the pointer is that of a local variable, which stays null after an error.
        let _ = unsafe { self.driver.va_host_alloc(size, &mut memory) };
        memory
    }

    unsafe fn host_memory_deallocate(&self, mem: *mut c_void) {
        // SAFETY: any address is allowed.
        let _ = unsafe { self.driver.va_host_free(mem) };
    }

    fn get_allocator_stats(&self, mut stats: PrefixMut<'_, SP_AllocatorStats>) -> u8 {
        let Some(info) = self.info() else {
            return 0;
        };
        stats.set_struct_size();
        stats.set(
            SP_AllocatorStats::bytes_in_use,
            (info.total_memory - info.free_memory) as i64,
        );
        stats.set(
            SP_AllocatorStats::peak_bytes_in_use,
            info.peak_memory as i64,
        );
        stats.set(SP_AllocatorStats::has_bytes_limit, 1);
        stats.set(SP_AllocatorStats::bytes_limit, info.total_memory as i64);
        1
    }

    unsafe fn device_memory_usage(&self, free: *mut i64, total: *mut i64) -> u8 {
        let Some(info) = self.info() else {
            return 0;
        };
        // SAFETY: TensorFlow passes pointers to its variables.
        unsafe {
            free.write(info.free_memory as i64);
            total.write(info.total_memory as i64);
        }
        1
    }

    fn create_stream(&self) -> Result<Stream> {
        let mut queue = va_queue::NULL;
        // SAFETY: the pointer is that of a local variable; options may be null.
        unsafe {
            self.driver
                .va_queue_create(self.device, ptr::null(), &mut queue)
        }
        .map_err(error)?;
        Ok(Stream { queue })
    }

    fn destroy_stream(&self, stream: Stream) {
        // SAFETY: any handle is allowed.
        let _ = unsafe { self.driver.va_queue_destroy(stream.queue) };
    }

    fn create_stream_dependency(&self, dependent: &Stream, other: &Stream) -> Result<()> {
        let fence = self.fence()?;
        let waited = self
            .record_event(other, &fence)
            .and_then(|()| self.wait_for_event(dependent, &fence));
        // The queues use the fence until its work is complete.
        self.destroy_event(fence);
        waited
    }

    fn get_stream_status(&self, stream: &Stream) -> Result<()> {
        // SAFETY: any handle is allowed.
        match unsafe { self.driver.va_queue_query(stream.queue) } {
            Ok(())
            | Err(driver::Error::Status {
                status: va_status::VA_NOT_READY,
                ..
            }) => Ok(()),
            Err(failed) => Err(self.sticky(stream, failed)),
        }
    }

    fn create_event(&self) -> Result<va_fence> {
        self.fence()
    }

    fn destroy_event(&self, event: va_fence) {
        // SAFETY: any handle is allowed.
        let _ = unsafe { self.driver.va_fence_destroy(event) };
    }

    fn get_event_status(&self, event: &va_fence) -> SE_EventStatus {
        // An error status would end the process; failed work is reported by its queue.
        // SAFETY: any handle is allowed.
        match unsafe { self.driver.va_fence_query(*event) } {
            Err(driver::Error::Status {
                status: va_status::VA_NOT_READY,
                ..
            }) => SE_EventStatus::SE_EVENT_PENDING,
            _ => SE_EventStatus::SE_EVENT_COMPLETE,
        }
    }

    fn record_event(&self, stream: &Stream, event: &va_fence) -> Result<()> {
        // SAFETY: any handles are allowed.
        unsafe { self.driver.va_fence_record(*event, stream.queue) }.map_err(error)
    }

    fn wait_for_event(&self, stream: &Stream, event: &va_fence) -> Result<()> {
        // SAFETY: any handles are allowed.
        unsafe { self.driver.va_fence_wait(stream.queue, *event) }.map_err(error)
    }

    fn create_timer(&self) -> Result<Timer> {
        Ok(Timer {
            start: self.fence()?,
            stop: self.fence()?,
        })
    }

    fn destroy_timer(&self, timer: Timer) {
        self.destroy_event(timer.start);
        self.destroy_event(timer.stop);
    }

    fn start_timer(&self, stream: &Stream, timer: &Timer) -> Result<()> {
        self.record_event(stream, &timer.start)
    }

    fn stop_timer(&self, stream: &Stream, timer: &Timer) -> Result<()> {
        self.record_event(stream, &timer.stop)
    }

    unsafe fn memcpy_dtoh(
        &self,
        stream: &Stream,
        host_dst: *mut c_void,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        let source = address(device_src, size)?;
        // SAFETY: the caller keeps the host's memory valid until the copy is complete.
        unsafe {
            self.driver
                .va_copy_to_host(stream.queue, host_dst, source, size)
        }
        .map_err(|failed| self.sticky(stream, failed))
    }

    unsafe fn memcpy_htod(
        &self,
        stream: &Stream,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        host_src: *const c_void,
        size: u64,
    ) -> Result<()> {
        let target = address(device_dst, size)?;
        // SAFETY: the caller keeps the host's memory valid until the copy is complete.
        unsafe {
            self.driver
                .va_copy_to_device(stream.queue, target, host_src, size)
        }
        .map_err(|failed| self.sticky(stream, failed))
    }

    unsafe fn memcpy_dtod(
        &self,
        stream: &Stream,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        let (target, source) = (address(device_dst, size)?, address(device_src, size)?);
        // SAFETY: the driver checks device addresses. TensorFlow also copies between devices with this slot.
        unsafe { self.driver.va_copy_peer(stream.queue, target, source, size) }
            .map_err(|failed| self.sticky(stream, failed))
    }

    unsafe fn sync_memcpy_dtoh(
        &self,
        host_dst: *mut c_void,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: as for the asynchronous copy, which is complete when this returns.
        self.synchronously(|stream| unsafe { self.memcpy_dtoh(stream, host_dst, device_src, size) })
    }

    unsafe fn sync_memcpy_htod(
        &self,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        host_src: *const c_void,
        size: u64,
    ) -> Result<()> {
        // SAFETY: as for the asynchronous copy, which is complete when this returns.
        self.synchronously(|stream| unsafe { self.memcpy_htod(stream, device_dst, host_src, size) })
    }

    fn block_host_for_event(&self, event: &va_fence) -> Result<()> {
        // SAFETY: any handle is allowed.
        unsafe { self.driver.va_fence_synchronize(*event) }.map_err(error)
    }

    fn block_host_until_done(&self, stream: &Stream) -> Result<()> {
        self.wait(stream)
    }

    fn synchronize_all_activity(&self) -> Result<()> {
        // SAFETY: any handle is allowed.
        unsafe { self.driver.va_device_synchronize(self.device) }.map_err(error)
    }

    unsafe fn mem_zero(
        &self,
        stream: &Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: as for `memset`.
        unsafe { self.memset(stream, location, 0, size) }
    }

    unsafe fn memset(
        &self,
        stream: &Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        pattern: u8,
        size: u64,
    ) -> Result<()> {
        let target = address(location, size)?;
        // SAFETY: the driver checks device addresses.
        unsafe {
            self.driver
                .va_fill(stream.queue, target, pattern.into(), 1, size)
        }
        .map_err(|failed| self.sticky(stream, failed))
    }

    unsafe fn memset32(
        &self,
        stream: &Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        pattern: u32,
        size: u64,
    ) -> Result<()> {
        let target = address(location, size)?;
        // SAFETY: the driver checks device addresses.
        unsafe { self.driver.va_fill(stream.queue, target, pattern, 4, size) }
            .map_err(|failed| self.sticky(stream, failed))
    }

    unsafe fn host_callback(
        &self,
        stream: &Stream,
        callback_fn: SE_StatusCallbackFn,
        callback_arg: *mut c_void,
    ) -> u8 {
        let data = Box::into_raw(Box::new((callback_fn, callback_arg)));
        // SAFETY: `call_back` takes the box, once, on the queue's thread.
        let added = unsafe {
            self.driver
                .va_launch_host_function(stream.queue, Some(call_back), data.cast())
        };
        if added.is_err() {
            // SAFETY: the driver does not call the function, so the box is still owned here.
            drop(unsafe { Box::from_raw(data) });
        }
        added.is_ok().into()
    }
}

/// Calls TensorFlow's callback.
unsafe extern "C" fn call_back(data: *mut c_void) {
    // SAFETY: `host_callback` made the box, and the driver calls this once.
    let (callback, argument) =
        *unsafe { Box::from_raw(data.cast::<(SE_StatusCallbackFn, *mut c_void)>()) };
    if let (Some(callback), Ok(status)) = (callback, Status::new()) {
        // SAFETY: TensorFlow's own callback and argument, called once.
        unsafe { callback(argument, status.as_ptr()) };
    }
}

#[vtable]
impl DeviceFns for Vaccel {
    fn get_numa_node(&self) -> i32 {
        self.info().map_or(0, |info| info.numa_node)
    }
}

impl TimerFns for Vaccel {
    type Timer = Timer;

    fn nanoseconds(timer: &Timer) -> u64 {
        let (Ok(driver), mut elapsed) = (driver(), 0) else {
            return 0;
        };
        // SAFETY: the pointer is that of a local variable, which stays 0 after an error.
        let _ = unsafe { driver.va_fence_elapsed(timer.start, timer.stop, &mut elapsed) };
        elapsed
    }
}
