//! The context of a call that TensorFlow does not take part in: its tensors are in memory of the plugin.
//!
//! A kernel that runs behind its call is called twice. The first call finds the shapes of the outputs: its inputs have the right
//! shapes and any values, and it ends with an error once all outputs are allocated. The second one computes.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use sp_abi::tf_datatype::TF_DataType;

use crate::buffer::Buffer;
use crate::dims::Dims;
use crate::element::ElementLayout;
use crate::host_memory::HostMemory;
use crate::tensor::{Tensor, byte_len_of};
use crate::{Error, Result};

/// A tensor in memory that the host can address.
pub(in crate::kernel) struct HostTensor {
    pub dtype: TF_DataType,
    pub dims: Dims,
    pub start: NonNull<u8>,
    pub bytes: usize,
    _buffer: Option<Buffer>,
}

// SAFETY: the memory belongs to no thread. Who creates the value guarantees that its uses are ordered.
unsafe impl Send for HostTensor {}
// SAFETY: a shared value yields a handle, whose elements the caller of `handle` has for itself if it writes them.
unsafe impl Sync for HostTensor {}

impl HostTensor {
    /// Creates a tensor in a buffer.
    ///
    /// # Errors
    /// Returns an error if the buffer is too short, or if the elements are no numbers.
    pub fn in_buffer(dtype: TF_DataType, dims: Dims, buffer: Buffer) -> Result<Self> {
        let bytes = byte_len_of(&dims, ElementLayout::from_dtype(dtype)?.width)?;
        if buffer.byte_len() < bytes {
            return Err(Error::internal("the memory of a tensor is too short"));
        }
        Ok(Self {
            dtype,
            dims,
            start: buffer.start(),
            bytes,
            _buffer: Some(buffer),
        })
    }

    /// Returns the tensor at another address.
    ///
    /// # Safety
    /// - `start` is the address of as many bytes while the value is used.
    pub unsafe fn at(self, start: NonNull<u8>) -> Self {
        Self {
            start,
            _buffer: None,
            ..self
        }
    }

    /// Returns a handle of the tensor.
    fn handle(&self) -> Result<Tensor> {
        // SAFETY: the memory has as many bytes. The kernel drops its handles before the context is dropped, which borrows this
        // tensor.
        unsafe { Tensor::at_address(self.dtype, &self.dims, self.start, self.bytes) }
    }
}

impl HostTensor {
    /// Returns a handle of an output.
    ///
    /// # Errors
    /// Returns an error if TensorFlow has copied the memory, which it does if it is not aligned: what a kernel writes would be lost.
    fn writable_handle(&self) -> Result<Tensor> {
        let tensor = self.handle()?;
        match self.bytes == 0 || tensor.data()? == self.start.as_ptr().cast() {
            true => Ok(tensor),
            false => Err(Error::internal(
                "the memory of an output has another alignment than TensorFlow's tensors",
            )),
        }
    }
}

/// The context.
pub(in crate::kernel) struct Detached<'j> {
    inputs: &'j [HostTensor],
    outputs: Outputs<'j>,
}

enum Outputs<'j> {
    Known(&'j [HostTensor]),
    Planned(&'j Plan<'j>),
}

impl<'j> Detached<'j> {
    /// Creates the context of a call that computes.
    ///
    /// # Safety
    /// - Nobody else uses the memory of the outputs, or writes that of the inputs, while a kernel has the context.
    pub unsafe fn new(inputs: &'j [HostTensor], outputs: &'j [HostTensor]) -> Self {
        let outputs = Outputs::Known(outputs);
        Self { inputs, outputs }
    }

    /// Creates the context of a call that finds the shapes of the outputs.
    ///
    /// # Safety
    /// - Nobody writes the memory of the inputs while a kernel has the context.
    pub unsafe fn planning(inputs: &'j [HostTensor], plan: &'j Plan<'j>) -> Self {
        let outputs = Outputs::Planned(plan);
        Self { inputs, outputs }
    }

    pub fn input(&self, index: usize) -> Result<Tensor> {
        self.inputs.get(index).ok_or_else(no_tensor)?.handle()
    }

    /// Returns output `index`. One that may have the buffer of an input names it as `forwarded`.
    pub fn output(&self, index: usize, dims: &[usize], forwarded: Option<usize>) -> Result<Tensor> {
        match self.outputs {
            Outputs::Planned(plan) => plan.add(index, dims, forwarded),
            Outputs::Known(outputs) => {
                let known = outputs.get(index).ok_or_else(no_tensor)?;
                match known.dims[..] == *dims {
                    true => known.writable_handle(),
                    false => Err(other_shape(&known.dims, dims)),
                }
            }
        }
    }

    /// Returns memory for a tensor of the call.
    pub fn temporary(&self, dtype: TF_DataType, dims: &[usize]) -> Result<Tensor> {
        let width = ElementLayout::from_dtype(dtype)?.width;
        let memory = HostMemory::zeroed(byte_len_of(dims, width)?)?;
        // SAFETY: the layout of the type has the width.
        unsafe { Tensor::in_memory((dtype, width), dims, memory) }
    }
}

/// The outputs that a kernel has asked for.
pub(in crate::kernel) struct Plan<'j> {
    allocate: &'j dyn Fn(usize) -> Result<Buffer>,
    outputs: RefCell<Vec<Option<PlannedOutput>>>,
    missing: Cell<usize>,
    types: &'j [TF_DataType],
}

/// An output.
pub(in crate::kernel) struct PlannedOutput {
    pub tensor: HostTensor,
    /// The input whose buffer may be the output's.
    pub forwarded: Option<usize>,
}

impl<'j> Plan<'j> {
    /// Creates the plan of a call with outputs of these types, each in memory that `allocate` returns.
    pub fn new(types: &'j [TF_DataType], allocate: &'j dyn Fn(usize) -> Result<Buffer>) -> Self {
        let outputs = types.iter().map(|_| None).collect();
        Self {
            allocate,
            outputs: RefCell::new(outputs),
            missing: Cell::new(types.len()),
            types,
        }
    }

    /// Returns the outputs, or `None` if the kernel has not asked for all of them.
    pub fn into_outputs(self) -> Option<Vec<PlannedOutput>> {
        self.outputs.into_inner().into_iter().collect()
    }

    fn add(&self, index: usize, dims: &[usize], forwarded: Option<usize>) -> Result<Tensor> {
        // That of the op's definition, as of an output that TensorFlow allocates.
        let dtype = *self.types.get(index).ok_or_else(no_tensor)?;
        let bytes = byte_len_of(dims, ElementLayout::from_dtype(dtype)?.width)?;
        let Ok(dims) = Dims::try_new::<std::convert::Infallible>(dims.len(), |it| Ok(dims[it]));
        let tensor = HostTensor::in_buffer(dtype, dims, (self.allocate)(bytes)?)?;
        let handle = tensor.handle()?;
        let mut outputs = self.outputs.borrow_mut();
        let output = outputs.get_mut(index).ok_or_else(no_tensor)?;
        if output.is_none() {
            self.missing.set(self.missing.get() - 1);
        }
        *output = Some(PlannedOutput { tensor, forwarded });
        match self.missing.get() {
            0 => Err(Error::internal("all outputs are planned")),
            _ => Ok(handle),
        }
    }
}

/// Returns the error for a function that only a context of TensorFlow has.
#[cold]
pub(in crate::kernel) fn unsupported() -> Error {
    Error::unimplemented("not available to a kernel that runs behind its call")
}

#[cold]
fn no_tensor() -> Error {
    Error::internal("the call has no such tensor")
}

#[cold]
fn other_shape(planned: &[usize], dims: &[usize]) -> Error {
    Error::internal(format!(
        "the output's shape {dims:?} depends on values: the call has planned {planned:?}"
    ))
}
