//! A complete plugin without a driver: device memory is memory of the process, and a queue runs each command at once.
//!
//! Replace the bodies by calls of your driver. TensorFlow never sees an address of the memory, so kernels that compute on the
//! host, such as Relu here, get copies.

use std::sync::{Arc, Mutex, PoisonError};

use sp_plugin::accelerator::{
    Accelerator, AcceleratorDevice, Fence, HostSource, HostTarget, MemoryInfo, Queue, Region,
    check_lengths,
};
use sp_plugin::kernel::{In, Kernel, Out, kernel, kernels};
use sp_plugin::{Result, allocation};

/// The size of the device memory.
const TOTAL_BYTES: u64 = 1 << 30;

/// A device.
struct HostAccelerator;

/// A queue, whose commands have run when they are enqueued.
struct InlineQueue;

/// A position in a queue: all commands before it have completed.
struct Completed;

impl Accelerator for HostAccelerator {
    type Allocation = Arc<Mutex<Vec<u8>>>;
    type Fence = Completed;
    type Queue = InlineQueue;

    fn open(_: usize) -> Result<Self> {
        Ok(Self)
    }

    fn allocate(&self, bytes: usize) -> Result<Self::Allocation> {
        // Not `vec!`: it ends the process if there is not enough memory.
        Ok(Arc::new(Mutex::new(allocation::filled(0, bytes))))
    }

    fn create_queue(&self, _: Option<i32>) -> Result<InlineQueue> {
        Ok(InlineQueue)
    }

    fn memory_info(&self) -> Result<MemoryInfo> {
        let (free, total) = (TOTAL_BYTES, TOTAL_BYTES);
        Ok(MemoryInfo { free, total })
    }
}

/// Calls `access` with the bytes of a region.
fn with_bytes<T>(region: &Region<HostAccelerator>, access: impl FnOnce(&mut [u8]) -> T) -> T {
    let memory = region.allocation().lock();
    let mut memory = memory.unwrap_or_else(PoisonError::into_inner);
    access(&mut memory[region.offset()..][..region.len()])
}

impl Queue<HostAccelerator> for InlineQueue {
    fn copy_in(&self, target: &Region<HostAccelerator>, source: HostSource<'_>) -> Result<()> {
        check_lengths(target.len(), source.len())?;
        with_bytes(target, |target| target.copy_from_slice(source.as_bytes()));
        Ok(())
    }

    fn copy_out(&self, target: HostTarget<'_>, source: &Region<HostAccelerator>) -> Result<()> {
        check_lengths(target.len(), source.len())?;
        target.into_writer()(with_bytes(source, |source| source.to_vec()));
        Ok(())
    }

    fn copy(
        &self,
        target: &Region<HostAccelerator>,
        source: &Region<HostAccelerator>,
    ) -> Result<()> {
        check_lengths(target.len(), source.len())?;
        // Both regions may be in one allocation, whose lock is taken once at a time.
        let bytes = with_bytes(source, |source| source.to_vec());
        with_bytes(target, |target| target.copy_from_slice(&bytes));
        Ok(())
    }

    fn record(&self) -> Result<Completed> {
        Ok(Completed)
    }

    fn wait(&self, _: &Completed) -> Result<()> {
        Ok(())
    }

    fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()> {
        function();
        Ok(())
    }
}

impl Fence for Completed {
    fn is_complete(&self) -> Result<bool> {
        Ok(true)
    }
}

#[kernel(Relu, T = [f32])]
fn relu(features: In<'_, f32>, activations: Out<'_, f32>) -> Result<()> {
    let mut activations = activations.zeroed(features.dims())?;
    for (to, from) in activations.iter_mut().zip(features.data()) {
        // Not `max`: NaN stays NaN, as in TensorFlow.
        *to = if *from < 0.0 { 0.0 } else { *from };
    }
    Ok(())
}

/// Returns the kernels.
fn table() -> Vec<&'static Kernel> {
    kernels![relu]
}

sp_plugin::plugin! {
    device: AcceleratorDevice<HostAccelerator>,
    device_type: c"HOST_MEMORY",
    platform_name: c"HOST_MEMORY",
    kernels: [table],
}
