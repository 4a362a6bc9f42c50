//! The inputs of a call.

use std::ptr::NonNull;

use super::Call;
use crate::buffer::Buffer;
use crate::dims::Dims;
use crate::element::ElementLayout;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// An input of the op: an argument of its definition. Small, so that it is passed in registers.
#[derive(Clone, Copy)]
pub struct InputArgument<'c> {
    pub(super) call: &'c Call<'c>,
    pub(super) position: usize,
}

impl<'c> InputArgument<'c> {
    /// Returns the source of the argument's tensors. Parameters of all element types share this function.
    #[inline(never)]
    pub(in crate::kernel) fn source(self) -> InputSource<'c> {
        self.to_source()
    }

    /// Returns the source of the argument's tensors, for a function that is compiled once.
    #[inline(always)]
    pub(in crate::kernel) fn to_source(self) -> InputSource<'c> {
        let Self { call, position } = self;
        let (first, count) = call.instance.inputs.range(position);
        let parameter = &call.instance.spec.inputs[position].parameter;
        InputSource {
            call,
            first,
            count,
            is_host: parameter.is_host,
            layout: &parameter.layout,
        }
    }
}

/// The tensors of an input.
#[derive(Clone, Copy)]
pub struct InputSource<'c> {
    pub(in crate::kernel) call: &'c Call<'c>,
    pub(in crate::kernel) first: usize,
    pub(in crate::kernel) count: usize,
    pub(in crate::kernel) is_host: bool,
    /// The type of the elements, if the parameter needs it.
    pub(in crate::kernel) layout: &'static Option<ElementLayout>,
}

impl<'c> InputSource<'c> {
    /// Returns the source of one tensor of the argument.
    pub(in crate::kernel) fn tensor_source(self, index: usize) -> Self {
        let (first, count) = (self.first + index, 1);
        Self {
            first,
            count,
            ..self
        }
    }

    /// Returns the first tensor.
    pub(in crate::kernel) fn tensor(&self) -> Result<Tensor> {
        if self.count == 0 {
            return Err(absent_input());
        }
        let tensor = self.call.context.input(self.first)?;
        self.call.note_input(&tensor);
        self.call.check_not_forwarded(&tensor)?;
        Ok(tensor)
    }

    /// Returns a tensor with the buffer of `tensor`, which is this one, and another shape of as many elements.
    pub(in crate::kernel) fn reshaped(&self, tensor: &Tensor, dims: &[usize]) -> Result<Tensor> {
        // A handle of its own, since the other one is borrowed.
        let mut reshaped = self.tensor()?;
        reshaped.share_buffer(tensor, dims)?;
        Ok(reshaped)
    }

    /// Copies a tensor that the host reads, if the host cannot address it, or if a reference variable may have its
    /// buffer.
    #[inline]
    pub(in crate::kernel) fn copy_if_read(
        &self,
        tensor: &Tensor,
        is_read: bool,
    ) -> Result<Option<Buffer>> {
        match is_read && !self.is_host {
            true => self.call.input_copy(tensor),
            false => Ok(None),
        }
    }
}

#[cold]
fn absent_input() -> Error {
    let message =
        "the running release's op does not have this input: its parameter needs to be an Option";
    Error::unimplemented(message)
}

/// The tensor of an input.
pub(in crate::kernel) struct InputTensor {
    pub tensor: Tensor,
    /// The number of the tensor among all inputs.
    pub index: usize,
    pub is_host: bool,
    pub layout: &'static Option<ElementLayout>,
    /// The size of the elements.
    pub bytes: usize,
    /// The first byte of the tensor, or of its copy; without meaning if the host does not read it.
    pub start: NonNull<u8>,
    pub dims: Dims,
    pub _copy: Option<Buffer>,
}
