//! Work of an author's kernel on the reference device.

use std::mem::MaybeUninit;
use std::slice;

use sp_abi::stream_executor::StreamExecutor;
use sp_plugin::accelerator::Region;
use sp_plugin::kernel::{Context, DeviceOut, In};
use sp_plugin::{Element, Error, HostAddressable, Result};

use super::queued::{CpuAccelerator, address};
use super::{CpuDevice, Stream};

impl CpuDevice {
    /// Enqueues `function(input, output)` on the stream of a call. It runs before the method returns, or later on the
    /// stream's thread, as `SP_CPU_STREAMS` selects.
    ///
    /// # Errors
    /// Returns the first error of the stream, or an error if a tensor is not in this device's memory.
    pub fn launch<T: Element, D: HostAddressable + StreamExecutor<Stream = Stream>>(
        &self,
        context: &Context<'_, D>,
        input: &In<'_, T, D>,
        output: &mut DeviceOut<'_, T, D>,
        function: impl FnOnce(&[T], &mut [MaybeUninit<T>]) + Send + 'static,
    ) -> Result<()> {
        if input.is_empty() || output.is_empty() {
            return Ok(());
        }
        let (from, to) = (input.address()?.addr(), output.address()?.addr());
        let bytes = |len| size_of::<T>() * len;
        // SAFETY: the bytes are those of the input and of the output, and the stream is the call's.
        let (source, target, queue) = unsafe {
            let source = self.0.region(from, bytes(input.len()))?;
            let target = self.0.region(to, bytes(output.len()))?;
            (source, target, context.stream().kernel_queue(context)?)
        };
        let (source, target) = (Elements::<T>::new(source)?, Elements::<T>::new(target)?);
        queue.launch(move || {
            // SAFETY: queues order the uses of device memory, and the output is a tensor of its own.
            unsafe { function(source.as_slice(), target.as_uninit_slice()) };
            Ok(())
        })
    }
}

/// The elements of a tensor, whose memory lives as long as the value.
struct Elements<T> {
    start: *mut T,
    len: usize,
    _region: Region<CpuAccelerator>,
}

// SAFETY: the elements are plain data in memory that the value holds.
unsafe impl<T: Element> Send for Elements<T> {}

impl<T: Element> Elements<T> {
    fn new(region: Region<CpuAccelerator>) -> Result<Self> {
        let (start, len) = (address(&region).cast::<T>(), region.len() / size_of::<T>());
        match start.is_aligned() {
            true => Ok(Self {
                start,
                len,
                _region: region,
            }),
            false => Err(Error::invalid_argument("a tensor is not aligned")),
        }
    }

    /// # Safety
    /// Nobody writes to the elements meanwhile.
    unsafe fn as_slice(&self) -> &[T] {
        // SAFETY: the region has the elements, aligned, and any bytes are values of an `Element`. The caller
        // guarantees that nobody writes.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }

    /// # Safety
    /// Nobody else uses the elements meanwhile.
    #[expect(
        clippy::mut_from_ref,
        reason = "the memory is the device's, not the value's"
    )]
    unsafe fn as_uninit_slice(&self) -> &mut [MaybeUninit<T>] {
        // SAFETY: the region has the elements, aligned. The caller guarantees that nobody else uses them.
        unsafe { slice::from_raw_parts_mut(self.start.cast(), self.len) }
    }
}
