//! Kernels of an accelerator: the queue, and the regions of tensors.

use std::ops::Deref;

use sp_abi::stream_executor::StreamExecutor;

use super::stream::{Begun, Command, StreamState};
use super::{Accelerator, AcceleratorDevice, Region, Stream};
use crate::kernel::DeviceVariableValue; // since 2.6
use crate::kernel::expansion::Call;
use crate::kernel::{Context, DeviceOut, In};
use crate::synchronous::is_synchronous;
use crate::trace::CommandKind;
use crate::{Device, Element, Result};

/// A device whose memory and streams are those of an [`AcceleratorDevice`]: this type itself, or one that overrides
/// single slots over it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no device over a device layer",
    note = "memory and queue of an accelerator belong to parameters of a device: `In<'_, f32, Nova>`, `Out<'_, f32, Nova>` and \
            `&Context<'_, Nova>` for `type Nova = AcceleratorDevice<..>`; without a device a tensor is in host memory"
)]
pub trait HasAccelerator: Device + StreamExecutor<Stream = Stream<Self::Accelerator>> {
    /// The accelerator.
    type Accelerator: Accelerator;

    /// Returns the device that the slots are delegated to.
    fn accelerator_device(&self) -> &AcceleratorDevice<Self::Accelerator>;
}

impl<A: Accelerator> HasAccelerator for AcceleratorDevice<A> {
    type Accelerator = A;

    fn accelerator_device(&self) -> &Self {
        self
    }
}

/// The queue of a kernel's call. When it is dropped, the stream remembers the name of the op, for errors of the commands
/// that were enqueued meanwhile.
pub struct KernelQueue<'c, A: Accelerator> {
    call: &'c Call<'c>,
    stream: &'c StreamState<A>,
    queue: &'c A::Queue,
    /// The start of the kernel's work, while a profile runs.
    timing: Option<Begun<A>>,
}

impl<'c, D: HasAccelerator> Context<'c, D> {
    /// Returns the queue of the call, to enqueue the kernel's work.
    ///
    /// # Errors
    /// Returns the first error of the queue: an earlier command has failed.
    pub fn queue(&'c self) -> Result<KernelQueue<'c, D::Accelerator>> {
        // SAFETY: it is the stream of the call.
        unsafe { self.stream().kernel_queue(self) }
    }
}

impl<A: Accelerator> Stream<A> {
    /// Returns the queue, to enqueue the work of a kernel that runs on this stream.
    ///
    /// # Errors
    /// Returns the first error of the queue: an earlier command has failed.
    ///
    /// # Safety
    /// The call runs on this stream: TensorFlow and kernels on the host wait for no other one before they use the call's tensors.
    pub unsafe fn kernel_queue<'c, D: Device>(
        &'c self,
        context: &'c Context<'_, D>,
    ) -> Result<KernelQueue<'c, A>> {
        let queue = self.0.queue()?;
        Ok(KernelQueue {
            call: context.call,
            stream: &self.0,
            queue,
            timing: self.0.begin_timing(),
        })
    }
}

impl<A: Accelerator> Deref for KernelQueue<'_, A> {
    type Target = A::Queue;

    fn deref(&self) -> &A::Queue {
        self.queue
    }
}

impl<A: Accelerator> Drop for KernelQueue<'_, A> {
    fn drop(&mut self) {
        self.stream.close();
        self.stream
            .end_timing(self.timing.take(), CommandKind::Kernel);
        let marked = self.stream.mark(Command::Kernel(self.call.operation()));
        let waited = match is_synchronous() {
            true => marked.and_then(|()| self.stream.synchronize()),
            false => marked,
        };
        if let Err(error) = waited {
            self.call.record_failure(error);
        }
    }
}

impl<T: Element, D: HasAccelerator> In<'_, T, D> {
    /// Returns the tensor's memory, which commands may only read.
    ///
    /// # Errors
    /// Returns an error if the tensor is empty, since an empty tensor has no memory.
    pub fn region(&self) -> Result<Region<D::Accelerator>> {
        let (address, bytes) = (self.address()? as usize, self.len() * size_of::<T>());
        // SAFETY: the bytes are the tensor's.
        unsafe { self.device()?.accelerator_device().region(address, bytes) }
    }
}

impl<T: Element, D: HasAccelerator> DeviceOut<'_, T, D> {
    /// Returns the tensor's memory.
    ///
    /// # Errors
    /// Returns an error if the tensor is empty, since an empty tensor has no memory.
    pub fn region(&mut self) -> Result<Region<D::Accelerator>> {
        let (address, bytes) = (self.address()? as usize, self.len() * size_of::<T>());
        // SAFETY: the bytes are the tensor's, which nobody else uses.
        unsafe { self.device()?.accelerator_device().region(address, bytes) }
    }
}

// since 2.6
impl<T: Element, D: HasAccelerator> DeviceVariableValue<'_, T, D> {
    /// Returns the variable's memory.
    ///
    /// # Errors
    /// Returns an error if the variable is empty, since an empty tensor has no memory.
    pub fn region(&mut self) -> Result<Region<D::Accelerator>> {
        let (address, bytes) = (self.address()? as usize, self.len() * size_of::<T>());
        // SAFETY: the bytes are the variable's, which is locked.
        unsafe { self.device()?.accelerator_device().region(address, bytes) }
    }
}
