//! Ops of XLA that graphs have which are not compiled: gradients of slices in a function with `jit_compile`, and
//! `keras.ops.slice_update`.

use super::movement::{vector, write_view};
use super::prelude::*;
use crate::compute::movement::slice::slice;
use crate::compute::movement::strided_slice::{Masks, StridedSlice};
use sp_plugin::kernel::{AnyOut, Forwarded};

/// Returns where a slice begins: XLA moves the beginning so that the slice is inside of the tensor.
///
/// # Errors
/// Returns an error if the numbers of dims differ, or the slice is larger than the tensor.
fn clamped(dims: &[usize], begin: &[i64], size: &[usize]) -> Result<InlineList<i64>> {
    let is_inside =
        dims.len() == size.len() && dims.iter().zip(size).all(|(dim, size)| size <= dim);
    if begin.len() != dims.len() || !is_inside {
        return invalid!(
            "a slice of shape {} that begins at {} does not fit a tensor of shape {}",
            Dims(size),
            listed(begin),
            Dims(dims)
        );
    }
    let mut clamped = InlineList::new(0);
    for ((begin, dim), size) in begin.iter().zip(dims).zip(size) {
        clamped.push((*begin).clamp(0, (dim - size) as i64));
    }
    Ok(clamped)
}

#[kernel(XlaDynamicUpdateSlice, T = [..], Tindices = [i32, i64])]
fn update_slice<T: Element>(
    input: In<'_, T>,
    update: In<'_, T>,
    indices: HostIn<'_, Index>,
    output: Out<'_, T>,
) -> Result<()> {
    let size = update.dims();
    let begin = clamped(input.dims(), &vector("indices", &indices)?, size)?;
    let mut end = InlineList::new(0);
    begin
        .iter()
        .zip(size)
        .for_each(|(begin, size)| end.push(begin + *size as i64));
    let steps = vec![1; size.len()];
    let slice = StridedSlice::new(input.dims(), &begin, &end, &steps, Masks::default())?;
    let mut output = match output.forward(input)? {
        Forwarded::InPlace(output) => output,
        Forwarded::Fresh { input, output } => output.copy_from_slice(input.data())?,
    };
    Ok(slice.assign(size, update.data(), &mut output)?)
}

#[kernel(XlaDynamicSlice, T = [..], Tindices = [i32, i64])]
fn read_slice(
    input: BytesIn<'_>,
    start_indices: HostIn<'_, Index>,
    size_indices: HostIn<'_, Index>,
    output: BytesOut<'_>,
) -> Result<()> {
    let size = vector("size_indices", &size_indices)?;
    let sizes = allocation::try_collect(size.iter().map(|it| usize::try_from(*it)));
    let sizes = sizes.map_err(|_| {
        Error::invalid_argument(format!(
            "size_indices must be non-negative, but are {}",
            listed(&size[..])
        ))
    })?;
    let begin = clamped(
        input.dims(),
        &vector("start_indices", &start_indices)?,
        &sizes,
    )?;
    let (view, dims) = slice(input.dims(), &begin, &size)?;
    write_view(input, &view, &dims, output)
}

/// A hint for the partitioner of XLA.
#[kernel(XlaSharding, T = [..])]
fn sharding(input: AnyIn<'_>, output: AnyOut<'_>) -> Result<()> {
    output.set(input)
}

table! { update_slice, read_slice, sharding }
