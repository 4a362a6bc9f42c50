//! Kernels of shapes. TensorFlow reads the results on the host, so they are in host memory.

use super::movement::check_vector_or_scalar;
use super::prelude::*;
use crate::compute::movement::reshape;
use sp_plugin::kernel::{AnyInList, AnyOut, HostOutList};

/// The type of a shape.
trait Size: Element + TryFrom<i64> {
    /// Converts a number of elements.
    ///
    /// # Errors
    /// Returns an error if it is too large for the type.
    fn from_count(count: usize) -> Result<Self> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        Self::try_from(count).map_err(|_| {
            let bits = 8 * size_of::<Self>();
            Error::invalid_argument(format!(
                "{count} elements do not fit an integer of {bits} bits"
            ))
        })
    }
}

impl Size for i32 {}
impl Size for i64 {}

#[kernel(Shape, T = [..], out_type: I = [i32, i64])]
fn shape<I: Size>(input: AnyIn<'_, HostInt32>, output: HostOut<'_, I>) -> Result<()> {
    write_shape(input.dims(), output)
}

#[kernel(ShapeN, T = [..], out_type: I = [i32, i64])]
fn shape_n<I: Size>(input: AnyInList<'_, HostInt32>, output: HostOutList<'_, I>) -> Result<()> {
    for (input, output) in input.iter().zip(output) {
        write_shape(input?.dims(), output)?;
    }
    Ok(())
}

fn write_shape<I: Size>(dims: &[usize], output: HostOut<'_, I>) -> Result<()> {
    let mut output = output.uninit(&[dims.len()])?;
    for (out, dim) in output.as_uninit_slice().iter_mut().zip(dims) {
        out.write(I::from_count(*dim)?);
    }
    Ok(())
}

#[kernel(Size, T = [..], out_type: I = [i32, i64])]
fn size<I: Size>(input: AnyIn<'_, HostInt32>, output: HostOut<'_, I>) -> Result<()> {
    let count = I::from_count(len(input.dims()))?;
    output.uninit(&[])?.fill(count);
    Ok(())
}

#[kernel(Rank, T = [..])]
fn rank(input: AnyIn<'_, HostInt32>, output: HostOut<'_, i32>) -> Result<()> {
    // The rank of a tensor is at most 254.
    output.uninit(&[])?.fill(input.dims().len() as i32);
    Ok(())
}

#[kernel(Reshape, T = [..])]
fn reshape(
    tensor: AnyIn<'_, HostInt32>,
    shape: HostIn<'_, Index>,
    output: AnyOut<'_, HostInt32>,
) -> Result<()> {
    check_vector_or_scalar("shape", shape.dims())?;
    let dims = reshape::reshape(tensor.dims(), shape.iter())?;
    output.set_with_dims(tensor, &dims)
}

#[kernel(Squeeze, T = [..])]
fn squeeze(
    input: AnyIn<'_, HostInt32>,
    output: AnyOut<'_, HostInt32>,
    squeeze_dims: &[i64],
) -> Result<()> {
    let dims = reshape::squeeze(input.dims(), squeeze_dims)?;
    output.set_with_dims(input, &dims)
}

#[kernel(ExpandDims, T = [..])]
fn expand_dims(
    input: AnyIn<'_, HostInt32>,
    dim: HostIn<'_, Index>,
    output: AnyOut<'_, HostInt32>,
) -> Result<()> {
    let dims = reshape::expand(input.dims(), dim.scalar()?)?;
    output.set_with_dims(input, &dims)
}

table! { shape, shape_n, size, rank, reshape, squeeze, expand_dims }
