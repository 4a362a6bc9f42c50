//! The tensor of a fetched input, which a call stores.

use std::ptr::NonNull;

use crate::buffer::Buffer;
use crate::dims::Dims;
use crate::element::ElementLayout;
use crate::tensor::Tensor;

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
