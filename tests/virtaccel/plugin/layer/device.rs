//! The device: virtaccel's memory, queues and fences behind the device layer, which makes all slots from them.

use std::ffi::CStr;
use std::num::NonZeroUsize;
use std::time::Duration;

use sp_plugin::accelerator::{
    Accelerator, AcceleratorDevice, Fence, HostSource, HostTarget, MemoryInfo, PeerCopy, Queue,
    Region, check_lengths,
};
use sp_plugin::kernel::Context;
use sp_plugin::{Code, Description, Error, Result};

use crate::driver::safe::{Driver, va_device, va_fence, va_memory, va_queue};
use crate::driver::{self, FUNCTIONS, va_argument, va_queue_options, va_status};

/// One device.
pub type Vaccel = AcceleratorDevice<Virtaccel>;

/// A device of the driver.
pub struct Virtaccel(va_device);

/// A position in a queue.
pub struct Mark {
    fence: va_fence,
    queue: va_queue,
}

fn driver() -> Result<Driver> {
    Driver::get(FUNCTIONS).map_err(|error| Error::new(Code::UNAVAILABLE, error.to_string()))
}

impl From<driver::Error> for Error {
    fn from(error: driver::Error) -> Self {
        let code = match error.status() {
            Some(va_status::VA_ERROR_OUT_OF_MEMORY) => Code::RESOURCE_EXHAUSTED,
            _ => Code::INTERNAL,
        };
        Error::new(code, error.to_string())
    }
}

impl Accelerator for Virtaccel {
    type Allocation = va_memory;
    type Fence = Mark;
    type Queue = va_queue;

    fn count() -> Result<usize> {
        let driver = driver()?;
        let version = driver.va_driver_version()?;
        let (major, minor) = (version >> 16, version & 0xffff);
        if (major, minor) < (1, 1) {
            let message = format!("the driver's version is {major}.{minor}, expected 1.1 or later");
            return Err(Error::new(Code::UNAVAILABLE, message));
        }
        Ok(driver.va_device_count()? as usize)
    }

    fn open(ordinal: usize) -> Result<Self> {
        Ok(Self(driver()?.va_device_open(ordinal as u32)?))
    }

    fn allocate(&self, bytes: usize) -> Result<va_memory> {
        Ok(self.0.va_alloc(bytes as u64)?)
    }

    fn address(memory: &va_memory) -> Option<NonZeroUsize> {
        NonZeroUsize::new(memory.address())
    }

    fn create_queue(&self, priority: Option<i32>) -> Result<va_queue> {
        let options = va_queue_options {
            priority: priority.unwrap_or(0),
            ..Default::default()
        };
        Ok(self.0.va_queue_create(Some(options))?)
    }

    fn memory_info(&self) -> Result<MemoryInfo> {
        let info = self.0.va_device_get_info()?;
        let (free, total) = (info.free_memory, info.total_memory);
        Ok(MemoryInfo { free, total })
    }

    fn description(&self) -> Description {
        Description {
            hardware_name: Some(c"Virtual Accelerator"),
            vendor: Some(c"sp-gen"),
            ..Description::default()
        }
    }

    fn numa_node(&self) -> Option<i32> {
        let info = self.0.va_device_get_info().ok()?;
        (info.numa_node >= 0).then_some(info.numa_node)
    }

    fn at_exit(&self) {
        let _ = driver().map(|driver| driver.va_shutdown());
    }
}

fn address(region: &Region<Virtaccel>) -> usize {
    region.allocation().address() + region.offset()
}

/// Enqueues a kernel of the driver.
pub fn launch(
    context: &Context<'_, Vaccel>,
    kernel: &CStr,
    arguments: &[va_argument],
) -> Result<()> {
    let queue = context.queue()?;
    checked(&queue, queue.va_launch(kernel, arguments))
}

/// Returns a queue's sticky error, with the operation that has failed.
fn check(queue: &va_queue) -> Result<()> {
    match queue.va_queue_get_error(0)? {
        (va_status::VA_OK, _) => Ok(()),
        (status, operation) => Err(Error::internal(format!("{operation}: {status:?}"))),
    }
}

/// Returns the queue's sticky error instead of that of the call that found it.
fn checked<T>(queue: &va_queue, result: driver::Result<T>) -> Result<T> {
    result.or_else(|error| check(queue).and(Err(error.into())))
}

impl Queue<Virtaccel> for va_queue {
    fn copy_in(&self, target: &Region<Virtaccel>, source: HostSource<'_>) -> Result<()> {
        check_lengths(target.len(), source.len())?;
        let bytes = source.as_bytes().to_vec();
        checked(self, self.va_copy_to_device(address(target), bytes))
    }

    fn copy_out(&self, target: HostTarget<'_>, source: &Region<Virtaccel>) -> Result<()> {
        check_lengths(target.len(), source.len())?;
        let copied = self.va_copy_to_host(target.into_writer(), address(source), source.len());
        checked(self, copied)
    }

    fn copy(&self, target: &Region<Virtaccel>, source: &Region<Virtaccel>) -> Result<()> {
        check_lengths(target.len(), source.len())?;
        let (to, from, len) = (address(target), address(source), source.len() as u64);
        checked(self, self.va_copy_within(to, from, len))
    }

    fn copy_to_peer(
        &self,
        _: &Virtaccel,
        target: &Region<Virtaccel>,
        source: &Region<Virtaccel>,
    ) -> Result<PeerCopy> {
        check_lengths(target.len(), source.len())?;
        let (to, from, len) = (address(target), address(source), source.len() as u64);
        checked(self, self.va_copy_peer(to, from, len)).map(|()| PeerCopy::Enqueued)
    }

    fn fill(&self, target: &Region<Virtaccel>, pattern: &[u8]) -> Result<()> {
        let value = match *pattern {
            [byte] => byte.into(),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            _ => return Err(Error::invalid_argument("a fill pattern must have 1 or 4 bytes")),
        };
        let (to, size, len) = (address(target), pattern.len() as u32, target.len() as u64);
        checked(self, self.va_fill(to, value, size, len))
    }

    fn record(&self) -> Result<Mark> {
        let (fence, queue) = (self.va_device().va_fence_create()?, self.clone());
        fence.va_fence_record(self)?;
        Ok(Mark { fence, queue })
    }

    fn wait(&self, mark: &Mark) -> Result<()> {
        Ok(self.va_fence_wait(&mark.fence)?)
    }

    fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()> {
        Ok(self.va_launch_host_function(function)?)
    }
}

impl Fence for Mark {
    fn is_complete(&self) -> Result<bool> {
        checked(&self.queue, self.fence.va_fence_query())
    }

    fn timestamp(&self) -> Option<Duration> {
        // `clock_frequency` of `va_device_info`: a tick is a nanosecond.
        self.fence.va_fence_time().ok().map(Duration::from_nanos)
    }

    fn wait(&self) -> Result<()> {
        self.fence.va_fence_synchronize()?;
        check(&self.queue)
    }
}
