//! One call of a kernel, from which its parameters are made.

use std::any::Any;
use std::cell::Cell;
use std::ffi::c_void;

use sp_abi::tf_datatype::TF_DataType;

use super::context::ContextRef;
use super::driver::Instance;
use crate::buffer::Buffer;
use crate::tensor::Tensor;
use crate::{Device, Error, Memory, Result};

/// One call of a kernel.
pub struct Call<'c> {
    context: ContextRef<'c>,
    instance: &'c Instance,
    device: &'c dyn Any,
    stream: &'c dyn Any,
    memory: Option<&'c dyn DeviceMemory>,
    is_staged: Cell<bool>,
    failure: Cell<Option<Error>>,
    unset: Cell<Option<usize>>,
    /// The addresses of inputs that became outputs; 0 is free.
    forwarded: [Cell<usize>; MAX_FORWARDED],
}

/// Largest number of inputs of a call that become outputs in place.
const MAX_FORWARDED: usize = 4;

/// [`Memory`] without its type, so that kernels need no type parameter for it.
pub(super) trait DeviceMemory {
    fn is_staged(&self) -> bool;
    /// # Safety
    /// As for [`Memory::fetch`].
    unsafe fn fetch(&self, host: *mut c_void, device: *const c_void, bytes: usize) -> Result<()>;
    /// # Safety
    /// As for [`Memory::store`].
    unsafe fn store(&self, device: *mut c_void, host: *const c_void, bytes: usize) -> Result<()>;
}

impl<M: Memory> DeviceMemory for M {
    fn is_staged(&self) -> bool {
        M::STAGED
    }

    unsafe fn fetch(&self, host: *mut c_void, device: *const c_void, bytes: usize) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        unsafe { Memory::fetch(self, host, device, bytes) }
    }

    unsafe fn store(&self, device: *mut c_void, host: *const c_void, bytes: usize) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        unsafe { Memory::store(self, device, host, bytes) }
    }
}

impl<'c> Call<'c> {
    pub(super) fn new(
        context: ContextRef<'c>,
        instance: &'c Instance,
        (device, stream): (&'c dyn Any, &'c dyn Any),
        memory: Option<&'c dyn DeviceMemory>,
    ) -> Self {
        Self {
            context,
            instance,
            device,
            stream,
            memory,
            is_staged: Cell::new(false),
            failure: Cell::new(None),
            unset: Cell::new(None),
            forwarded: [const { Cell::new(0) }; MAX_FORWARDED],
        }
    }

    /// Returns the source of the input at this position of the op's definition.
    pub fn input(&self, position: usize) -> InputSource<'_> {
        let (first, count) = self.instance.inputs.range(position);
        InputSource {
            call: self,
            first,
            count,
            is_host: self.instance.kernel.inputs[position].is_host,
        }
    }

    /// Returns the target of the output at this position of the op's definition.
    pub fn output(&self, position: usize) -> OutputTarget<'_> {
        let (first, count) = self.instance.outputs.range(position);
        OutputTarget {
            call: self,
            first,
            count,
            is_host: self.instance.kernel.outputs[position].is_host,
        }
    }

    /// Returns the state that the kernel has prepared.
    ///
    /// # Errors
    /// Returns an error if the state is of another type, which is a defect of the SDK.
    pub fn state<S: 'static>(&self) -> Result<&S> {
        let other = || Error::internal("the kernel's state is of another type");
        self.instance.state.downcast_ref().ok_or_else(other)
    }

    /// Returns the device and the stream.
    pub(super) fn device<D: Device>(&self) -> Option<(&D, &D::Stream)> {
        self.device.downcast_ref().zip(self.stream.downcast_ref())
    }

    pub(super) fn context(&self) -> ContextRef<'c> {
        self.context
    }

    /// Copies a tensor from device memory that the host cannot address; `None` if the host can.
    pub(super) fn staging_copy(&self, tensor: &Tensor, is_host: bool) -> Result<Option<Buffer>> {
        match is_host {
            true => Ok(None),
            false => self
                .staged_memory()?
                .map(|memory| self.fetch(memory, tensor))
                .transpose(),
        }
    }

    /// Allocates host memory for a tensor in device memory that the host cannot address; `None` if the host can.
    pub(super) fn staging_buffer(&self, bytes: usize, is_host: bool) -> Result<Option<Buffer>> {
        match is_host {
            true => Ok(None),
            false => self
                .staged_memory()?
                .map(|_| Buffer::zeroed(bytes))
                .transpose(),
        }
    }

    /// Returns the device's memory if the host reaches it by copies only.
    pub(super) fn staged_memory(&self) -> Result<Option<&'c dyn DeviceMemory>> {
        let closed = || Error::internal("the host has no access to device memory in this kernel");
        let memory = self.memory.ok_or_else(closed)?;
        Ok(memory.is_staged().then_some(memory))
    }

    fn fetch(&self, memory: &dyn DeviceMemory, tensor: &Tensor) -> Result<Buffer> {
        self.is_staged.set(true);
        let bytes = tensor.bytes()?;
        let copy = Buffer::zeroed(bytes)?;
        if bytes > 0 {
            let host = copy.start().as_ptr().cast();
            // SAFETY: the buffer and the tensor have `bytes` bytes.
            unsafe { memory.fetch(host, tensor.data()?, bytes)? };
        }
        Ok(copy)
    }

    /// Copies a buffer of the tensor's size to device memory.
    pub(super) fn store(
        &self,
        memory: &dyn DeviceMemory,
        copy: &Buffer,
        tensor: &Tensor,
    ) -> Result<()> {
        self.is_staged.set(true);
        let bytes = tensor.bytes()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller guarantees the buffer's size.
        unsafe { memory.store(tensor.data()?, copy.start().as_ptr().cast(), bytes) }
    }

    /// Records a failure that has no other way to the caller. The first one counts.
    pub(super) fn record_failure(&self, error: Error) {
        let first = self.failure.take().unwrap_or(error);
        self.failure.set(Some(first));
    }

    /// Records that output `index` was dropped before it was set. The first one counts.
    pub(super) fn record_unset(&self, index: usize) {
        self.unset.set(self.unset.get().or(Some(index)));
    }

    /// Returns true if one more input can become an output in place.
    pub(super) fn can_forward(&self) -> bool {
        self.forwarded.iter().any(|it| it.get() == 0)
    }

    /// Records the address of an input that became an output. The output may be written from now on, so the input must
    /// not be fetched again, nor another input that is the same tensor.
    pub(super) fn record_forwarded(&self, address: usize) {
        if let Some(free) = self.forwarded.iter().find(|it| it.get() == 0) {
            free.set(address);
        }
    }

    /// Checks that a fetched tensor has not become an output.
    fn check_not_forwarded(&self, tensor: &Tensor) -> Result<()> {
        if self.forwarded[0].get() == 0 {
            return Ok(());
        }
        let address = tensor.data()? as usize;
        match address != 0 && self.forwarded.iter().any(|it| it.get() == address) {
            true => Err(Error::internal(
                "the input was forwarded to an output, and cannot be fetched any more",
            )),
            false => Ok(()),
        }
    }

    /// Returns true if device memory was copied.
    pub(super) fn is_staged(&self) -> bool {
        self.is_staged.get()
    }

    /// Returns the failure that was recorded.
    pub(super) fn finish(&self) -> Result<()> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        match self.unset.get() {
            Some(index) => Err(self.instance.unset_output(index)),
            None => Ok(()),
        }
    }
}

/// The tensors of an input.
#[derive(Clone, Copy)]
pub struct InputSource<'c> {
    pub(super) call: &'c Call<'c>,
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) is_host: bool,
}

impl<'c> InputSource<'c> {
    /// Returns the source of one tensor of the argument.
    pub(super) fn tensor_source(self, index: usize) -> Self {
        let (first, count) = (self.first + index, 1);
        Self {
            first,
            count,
            ..self
        }
    }

    /// Returns the first tensor.
    pub(super) fn tensor(&self) -> Result<Tensor> {
        let tensor = self.call.context.input(self.first)?;
        self.call.check_not_forwarded(&tensor)?;
        Ok(tensor)
    }

    /// Copies the tensor if the host cannot address it.
    pub(super) fn staging_copy(&self, tensor: &Tensor) -> Result<Option<Buffer>> {
        self.call.staging_copy(tensor, self.is_host)
    }
}

/// The tensors of an output. One that is dropped before all of them are set makes the call fail.
pub struct OutputTarget<'c> {
    pub(super) call: &'c Call<'c>,
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) is_host: bool,
}

impl<'c> OutputTarget<'c> {
    /// Splits off the first tensor of the argument.
    pub(super) fn split_first(&mut self) -> Option<Self> {
        self.count = self.count.checked_sub(1)?;
        let (call, first, is_host) = (self.call, self.first, self.is_host);
        self.first += 1;
        Some(Self {
            call,
            first,
            count: 1,
            is_host,
        })
    }

    /// Allocates the tensor.
    pub(super) fn allocate(mut self, dtype: TF_DataType, dims: &[usize]) -> Result<Tensor> {
        self.count = 0;
        self.call.context.allocate_output(self.first, dtype, dims)
    }

    /// Makes `tensor` the output.
    pub(super) fn set(mut self, tensor: &Tensor) -> Result<()> {
        self.count = 0;
        self.call.context.set_output(self.first, tensor)
    }

    /// Makes the buffer of input `input` the output, or allocates the output. Returns true with the tensor if it has
    /// the input's buffer.
    pub(super) fn forward(mut self, input: usize, dims: &[usize]) -> Result<(Tensor, bool)> {
        self.count = 0;
        self.call
            .context
            .forward_input_or_allocate_output(input, self.first, dims)
    }
}

impl Drop for OutputTarget<'_> {
    fn drop(&mut self) {
        if self.count > 0 {
            self.call.record_unset(self.first);
        }
    }
}
