//! Kernels that read slices as Python writes them, or change them.

use super::movement::{fill_bytes, shape_of, vector, write_view};
use super::prelude::*;
use crate::compute::movement::scatter;
use crate::compute::movement::strided_slice::{self, StridedSlice};
use sp_plugin::kernel::Forwarded;
use std::mem::MaybeUninit;

/// The masks of a strided slice.
#[derive(Attributes)]
pub struct MaskAttributes {
    begin_mask: i64,
    end_mask: i64,
    ellipsis_mask: i64,
    new_axis_mask: i64,
    shrink_axis_mask: i64,
}

impl MaskAttributes {
    /// Returns the slice of a tensor of these dims.
    ///
    /// # Errors
    /// Returns an error if an input is not a vector, or the tensor has no such slice.
    pub fn slice(
        &self,
        dims: &[usize],
        begin: &HostIn<'_, Index>,
        end: &HostIn<'_, Index>,
        strides: &HostIn<'_, Index>,
    ) -> Result<StridedSlice> {
        let begin = vector("begin", begin)?;
        let (end, strides) = (vector("end", end)?, vector("strides", strides)?);
        let masks = strided_slice::Masks {
            begin: self.begin_mask,
            end: self.end_mask,
            ellipsis: self.ellipsis_mask,
            new_axis: self.new_axis_mask,
            shrink_axis: self.shrink_axis_mask,
        };
        Ok(StridedSlice::new(dims, &begin, &end, &strides, masks)?)
    }
}

#[kernel(StridedSlice, T = [..])]
fn strided_slice(
    input: BytesIn<'_, HostInt32>,
    begin: HostIn<'_, Index>,
    end: HostIn<'_, Index>,
    strides: HostIn<'_, Index>,
    output: BytesOut<'_, HostInt32>,
    #[state] masks: &MaskAttributes,
) -> Result<()> {
    let slice = masks.slice(input.dims(), &begin, &end, &strides)?;
    write_view(input, &slice.view, &slice.dims, output)
}

/// The gradient of a slice: zeros around the slice.
#[kernel(StridedSliceGrad, T = [..])]
fn strided_slice_grad(
    shape: HostIn<'_, Index>,
    begin: HostIn<'_, Index>,
    end: HostIn<'_, Index>,
    strides: HostIn<'_, Index>,
    dy: BytesIn<'_, HostInt32>,
    output: BytesOut<'_, HostInt32>,
    #[state] masks: &MaskAttributes,
) -> Result<()> {
    let dims = shape_of(&shape)?;
    let slice = masks.slice(&dims, &begin, &end, &strides)?;
    if dy.dims() != &*slice.dims {
        let (dy, slice) = (dy.dims(), &*slice.dims);
        return invalid!("shape of dy was {dy:?} instead of {slice:?}");
    }
    let mut output = output.uninit(&dims)?;
    let bytes = output.as_uninit_slice();
    fill_bytes(bytes, &[MaybeUninit::new(0)], 1);
    scatter(&slice.view, dy.width(), dy.as_uninit_slice(), bytes);
    Ok(())
}

/// Writes the changed tensor, in the buffer of the input if nobody else uses it.
#[kernel(TensorStridedSliceUpdate, T = [..])]
fn update<T: Element>(
    input: In<'_, T>,
    begin: HostIn<'_, Index>,
    end: HostIn<'_, Index>,
    strides: HostIn<'_, Index>,
    value: In<'_, T>,
    output: Out<'_, T>,
    #[state] masks: &MaskAttributes,
) -> Result<()> {
    let slice = masks.slice(input.dims(), &begin, &end, &strides)?;
    let mut output = match output.forward(input)? {
        Forwarded::InPlace(output) => output,
        Forwarded::Fresh { input, output } => output.copy_from_slice(input.data())?,
    };
    Ok(slice.assign(value.dims(), value.data(), &mut output)?)
}

table! { strided_slice, strided_slice_grad, update }
