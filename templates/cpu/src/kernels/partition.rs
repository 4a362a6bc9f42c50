//! Kernels that divide rows among tensors, join those of several, and count values.

use super::gather::to_indices;
use super::prelude::*;
use crate::compute::bins::Bins;
use crate::compute::movement::partition::{copy_part, count_rows, stitch, stitched_rows};
use sp_plugin::kernel::{BytesInList, BytesOutList};
use std::mem::MaybeUninit;

/// The number of rows of each part is known late: the outputs are allocated after the partitions were read.
#[kernel(DynamicPartition, T = [..])]
fn partition(data: BytesIn<'_>, partitions: In<'_, i32>, outputs: BytesOutList<'_>) -> Result<()> {
    let row = row_dims("data", data.dims(), "partitions", partitions.dims())?;
    let rows = count_rows(partitions.data(), outputs.len())?;
    let width = len(row).saturating_mul(data.width());
    for (part, (output, rows)) in outputs.zip(rows).enumerate() {
        let mut output = output.uninit(&[&[rows], row].concat())?;
        let out = output.as_uninit_slice();
        copy_part(partitions.data(), part, width, data.as_uninit_slice(), out);
    }
    Ok(())
}

/// Returns the dims of a row, of which there is one for each index.
fn row_dims<'a>(
    name: &str,
    dims: &'a [usize],
    indices: &str,
    index_dims: &[usize],
) -> Result<&'a [usize]> {
    dims.strip_prefix(index_dims).ok_or_else(|| {
        Error::invalid_argument(format!(
            "{name}.shape must start with {indices}.shape, got {dims:?} and {index_dims:?}"
        ))
    })
}

/// Kernels that join rows. Rows that no index names are zeros.
macro_rules! stitches {
    ($($name:ident: $op:ident;)*) => {$(
        #[kernel($op, T = [..])]
        fn $name(
            indices: InList<'_, i32>,
            data: BytesInList<'_>,
            merged: BytesOut<'_>,
        ) -> Result<()> {
            let (indices, data) = (indices.fetch()?, data.fetch()?);
            let mut common = None;
            for (indices, data) in indices.iter().zip(data.iter()) {
                let row = row_dims("data", data.dims(), "indices", indices.dims())?;
                let first = *common.get_or_insert(row);
                if first != row {
                    return invalid!("rows of different shapes: {first:?} and {row:?}");
                }
            }
            let (row, element) = (common.unwrap_or(&[]), data.first().map_or(1, |it| it.width()));
            let rows = stitched_rows(indices.iter().map(|it| it.data()))?;
            let mut output = merged.uninit(&[&[rows], row].concat())?;
            let (width, out) = (len(row).saturating_mul(element), output.as_uninit_slice());
            out.fill(MaybeUninit::new(0));
            for (indices, data) in indices.iter().zip(data.iter()) {
                stitch(indices.data(), width, data.as_uninit_slice(), out);
            }
            Ok(())
        }
    )*};
}

stitches! {
    dynamic_stitch: DynamicStitch;
    parallel_stitch: ParallelDynamicStitch;
}

#[kernel(Bincount, T = [f32, f64, i32, i64])]
fn bincount<T: Element + Number>(
    arr: BytesIn<'_>,
    size: HostIn<'_, i32>,
    weights: In<'_, T>,
    bins: Out<'_, T>,
) -> Result<()> {
    let count = bin_count(size.dims(), size.scalar()?.into())?;
    let values = to_indices(&arr)?;
    if !weights.is_empty() && weights.len() != len(arr.dims()) {
        return invalid!(
            "weights must be empty or have an element for each one of arr, not shape {:?} for arr of shape {:?}",
            weights.dims(),
            arr.dims()
        );
    }
    let plan = Bins {
        row_len: len(arr.dims()).max(1),
        count,
        is_binary: false,
    };
    let mut output = bins.zeroed(&[count])?;
    Ok(plan.count(values, weights.data(), &mut output)?)
}

/// Converts the number of bins.
fn bin_count(dims: &[usize], size: i64) -> Result<usize> {
    let count = usize::try_from(size).ok().filter(|_| dims.is_empty());
    count.ok_or_else(|| {
        let message = format!(
            "size ({size}) must be non-negative and a scalar, not of shape {}",
            Dims(dims)
        );
        Error::invalid_argument(message)
    })
}

#[kernel(DenseBincount, T = [f32, f64, i32, i64], Tidx = [i32, i64])]
fn dense_bincount<T: Element + Number>(
    input: BytesIn<'_>,
    size: HostIn<'_, Index>,
    weights: In<'_, T>,
    output: Out<'_, T>,
    binary_output: bool,
) -> Result<()> {
    let count = bin_count(size.dims(), size.scalar()?)?;
    let dims = input.dims();
    if dims.len() > 2 || !(weights.is_empty() || weights.dims() == dims) {
        return invalid!(
            "input must be a matrix, a vector or a scalar, and weights must have its shape or no elements, not shapes {dims:?} and {:?}",
            weights.dims()
        );
    }
    let batch = if dims.len() == 2 { &dims[..1] } else { &[] };
    let row_len = dims.last().copied().unwrap_or(1).max(1);
    let plan = Bins {
        row_len,
        count,
        is_binary: binary_output,
    };
    let mut output = output.zeroed(&[batch, &[count]].concat())?;
    Ok(plan.count(to_indices(&input)?, weights.data(), &mut output)?)
}

table! { partition, dynamic_stitch, parallel_stitch, bincount, dense_bincount }
