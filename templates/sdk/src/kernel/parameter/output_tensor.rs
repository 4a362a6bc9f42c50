//! The tensor of an output, independent of its element type: compiled once for all kernels.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;

use crate::Result;
use crate::buffer::Buffer;
use crate::element::ElementLayout;
use crate::kernel::call::{Call, OutputTarget};
use crate::small_shape::SmallShape;
use crate::tensor::{Tensor, aligned_address, byte_len_of};

/// The tensor of an output that the host writes, in place or in a copy.
///
/// `start` is the address of `bytes` bytes that live as long as the value, and that nobody else uses. It has the alignment
/// with which the value was created.
pub(super) struct OutputTensor<'c> {
    call: &'c Call<'c>,
    tensor: Tensor,
    copy: Option<Box<Buffer>>,
    start: NonNull<u8>,
    bytes: usize,
}

impl<'c> OutputTensor<'c> {
    /// Allocates the output. Its elements are uninitialized, and begin at a multiple of the layout's alignment.
    ///
    /// The usual case is one short function: a tensor in place that has elements.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    #[inline(never)]
    pub fn allocate(
        target: OutputTarget<'c>,
        layout: &ElementLayout,
        dims: &[usize],
    ) -> Result<Self> {
        let call = target.call;
        match SmallShape::new(dims, layout.width) {
            Some(shape) if call.writes_in_place(target.is_host()) => {
                let tensor = target.allocate_small(layout.dtype, shape)?;
                call.check_type(&tensor, layout.dtype)?;
                let start = aligned_address(tensor.data()?, shape.bytes(), layout.alignment)?;
                // As in `from_tensor`: TensorFlow has just allocated the tensor for this shape and type, and the host writes it in place.
                let (bytes, copy) = (shape.bytes(), None);
                Ok(Self {
                    call,
                    tensor,
                    copy,
                    start,
                    bytes,
                })
            }
            _ => Self::allocate_in_any_case(target, layout, dims),
        }
    }

    #[cold]
    fn allocate_in_any_case(
        target: OutputTarget<'c>,
        layout: &ElementLayout,
        dims: &[usize],
    ) -> Result<Self> {
        let (call, is_host) = (target.call, target.is_host());
        // In this order, so that the error for a tensor that no memory has room for is TensorFlow's.
        let tensor = target.allocate(layout.dtype, dims)?;
        let bytes = byte_len_of(dims, layout.width)?;
        call.check_type(&tensor, layout.dtype)?;
        // SAFETY: TensorFlow has just allocated the tensor for this shape. The type is that of the layout: `check_type`, or
        // else the registration, guarantees it.
        unsafe { Self::from_tensor(call, tensor, bytes, layout.alignment, is_host) }
    }

    /// Writes the first `bytes` bytes of a tensor, which begin at a multiple of `alignment`.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory for a copy, or if the address is not aligned.
    ///
    /// # Safety
    /// - `tensor` is an output of `call`, with `bytes` bytes or more.
    /// - Nobody else reads or writes its elements while the value lives.
    /// - It is in host memory if `is_host` is true, else in the memory of the call's device.
    pub unsafe fn from_tensor(
        call: &'c Call<'c>,
        tensor: Tensor,
        bytes: usize,
        alignment: usize,
        is_host: bool,
    ) -> Result<Self> {
        let copy = call.staging_buffer(bytes, is_host)?.map(Box::new);
        let start = match &copy {
            Some(copy) => copy.start(),
            None => aligned_address(tensor.data()?, bytes, alignment)?,
        };
        Ok(Self {
            call,
            tensor,
            copy,
            start,
            bytes,
        })
    }

    /// Returns the tensor.
    #[inline]
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// Returns the address of the first byte of the tensor, or of its copy.
    #[inline]
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the size of the elements.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the bytes of the elements.
    #[inline]
    pub fn as_uninit_bytes(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: `start` has `bytes` bytes, which live as long as `self` and have no other user. They may be uninitialized.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.bytes) }
    }

    #[cold]
    fn store(&self, copy: Buffer) {
        let memory = self.call.staged_memory();
        let stored = memory.and_then(|memory| {
            memory.map_or(Ok(()), |memory| self.call.store(memory, copy, &self.tensor))
        });
        if let Err(error) = stored {
            self.call.record_failure(error);
        }
    }
}

impl Drop for OutputTensor<'_> {
    /// Copies the elements to the device if the host cannot address its memory.
    #[inline]
    fn drop(&mut self) {
        if let Some(mut copy) = self.copy.take() {
            copy.freeze();
            self.store(*copy);
        }
    }
}
