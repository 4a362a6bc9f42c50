//! The tensors of an output.

use sp_abi::tf_datatype::TF_DataType;

use super::{Call, InputSource};
use crate::element::ElementLayout;
use crate::kernel::spec::ParameterSpec;
use crate::small_shape::SmallShape;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The tensors of an output. One that is dropped before all of them are set makes the call fail.
pub struct OutputTarget<'c> {
    pub(in crate::kernel) call: &'c Call<'c>,
    pub(super) parameter: &'static ParameterSpec,
    pub(in crate::kernel) first: usize,
    pub(in crate::kernel) count: usize,
}

impl<'c> OutputTarget<'c> {
    /// Returns true if TensorFlow places the output in host memory.
    #[inline]
    pub(in crate::kernel) fn is_host(&self) -> bool {
        self.parameter.is_host
    }

    /// Returns the type of the elements, if the parameter needs it.
    #[inline]
    pub(in crate::kernel) fn layout(&self) -> Option<&'static ElementLayout> {
        self.parameter.layout.as_ref()
    }

    /// Splits off the first tensor of the argument.
    pub(in crate::kernel) fn split_first(&mut self) -> Option<Self> {
        self.count = self.count.checked_sub(1)?;
        let first = self.first;
        self.first += 1;
        Some(Self {
            first,
            count: 1,
            ..*self
        })
    }

    /// Sets the output by `set`, which calls a function of core.
    pub(in crate::kernel) fn set_with(
        mut self,
        set: impl FnOnce(&'c Call<'c>) -> Result<()>,
    ) -> Result<()> {
        set(self.call)?;
        self.count = 0;
        Ok(())
    }

    /// Sets the output by `set`, which calls a function of core that sets the op's first output.
    ///
    /// # Errors
    /// Returns an error if this is another output.
    pub(in crate::kernel) fn set_first_with(
        self,
        set: impl FnOnce(&'c Call<'c>) -> Result<()>,
    ) -> Result<()> {
        match self.first {
            0 => self.set_with(set),
            other => fail!(
                internal,
                "TensorFlow has a function for output 0 only, not for output {other}"
            ),
        }
    }

    /// Allocates the tensor.
    #[inline]
    pub(in crate::kernel) fn allocate(
        mut self,
        dtype: TF_DataType,
        dims: &[usize],
    ) -> Result<Tensor> {
        let tensor = self.call.context.allocate_output(self.first, dtype, dims)?;
        self.count = 0;
        Ok(tensor)
    }

    /// Allocates the tensor, whose size has been checked.
    #[inline(always)]
    pub(in crate::kernel) fn allocate_small(
        mut self,
        dtype: TF_DataType,
        shape: SmallShape<'_>,
    ) -> Result<Tensor> {
        let context = self.call.context;
        let tensor = context.allocate_small_output(self.first, dtype, shape)?;
        self.count = 0;
        Ok(tensor)
    }

    /// Makes `tensor`, which was fetched from `source`, the output.
    ///
    /// # Errors
    /// Returns an error if one of them is in host memory and the other one on the device.
    pub(in crate::kernel) fn set(
        mut self,
        source: &InputSource<'_>,
        tensor: &Tensor,
    ) -> Result<()> {
        if source.is_host != self.is_host() {
            return Err(other_memory_space());
        }
        self.call.context.set_output(self.first, tensor)?;
        self.count = 0;
        Ok(())
    }

    /// Makes the buffer of input `input` the output, or allocates the output. Returns true with the tensor if it has
    /// the input's buffer.
    pub(in crate::kernel) fn forward(
        mut self,
        input: usize,
        dims: &[usize],
    ) -> Result<(Tensor, bool)> {
        let context = self.call.context;
        let output = context.forward_input_or_allocate_output(input, self.first, dims)?;
        self.count = 0;
        Ok(output)
    }
}

impl Drop for OutputTarget<'_> {
    fn drop(&mut self) {
        if self.count > 0 {
            self.call.record_unset(self.first);
        }
    }
}

#[cold]
fn other_memory_space() -> Error {
    let message =
        "an input in host memory cannot become an output in device memory, nor the reverse";
    Error::internal(message)
}
