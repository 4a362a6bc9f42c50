//! Outputs in host memory of the plugin, such as a driver's.

use super::input::HostIn;
use super::output::HostOut;
use crate::host_memory::HostMemory;
use crate::tensor::Tensor;
use crate::{Element, Result};

impl<T: Element> HostOut<'_, T> {
    /// Makes memory the output, without a copy: its first bytes are the elements. It is dropped once, on any thread: when
    /// TensorFlow deletes the last tensor that has it. TensorFlow may write to it, as to each buffer of which it has the only
    /// tensor.
    ///
    /// If the memory does not begin at a multiple of 64 bytes, TensorFlow copies it, and it is dropped at once.
    ///
    /// # Errors
    /// Returns an error if the memory has fewer bytes than the shape, or if TensorFlow rejects the tensor.
    pub fn set_memory(self, dims: &[usize], memory: HostMemory) -> Result<()> {
        let target = self.target();
        let layout = (T::DTYPE, size_of::<T>());
        // SAFETY: `T` has the size, and any bytes are a value of an `Element`.
        let tensor = unsafe { Tensor::in_memory(layout, dims, memory) }?;
        let index = target.first;
        target.set_with(|call| call.context().set_output(index, &tensor))
    }
}

impl<T: Element> HostIn<'_, T> {
    /// Returns true if the elements have the alignment that TensorFlow prefers, as those of a new tensor have. Those of a part of
    /// a tensor may have only that of `T`.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for it.
    pub fn is_aligned(&self) -> Result<bool> {
        self.0.fetched().tensor().is_aligned()
    }
}
