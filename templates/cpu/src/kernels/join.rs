//! Kernels that join tensors along an axis, or part one.

use super::movement::check_vector;
use super::prelude::*;
use crate::compute::movement::concat::{columns, concat as concat_rows};
use crate::compute::movement::{copy, resolve_axis};
use sp_plugin::kernel::{BytesInList, BytesOutList, Inputs, Placement};

#[kernel(ConcatV2, T = [..])]
fn concat_v2(
    values: BytesInList<'_, HostInt32>,
    axis: HostIn<'_, Index>,
    output: BytesOut<'_, HostInt32>,
) -> Result<()> {
    concat(values, axis.scalar()?, output)
}

#[kernel(Concat, T = [..])]
fn concat_v1(
    concat_dim: HostIn<'_, i32>,
    values: BytesInList<'_, HostInt32>,
    output: BytesOut<'_, HostInt32>,
) -> Result<()> {
    concat(values, concat_dim.scalar()?.into(), output)
}

fn concat<S: Placement>(
    values: BytesInList<'_, S>,
    axis: i64,
    output: BytesOut<'_, S>,
) -> Result<()> {
    let parts = values.fetch()?;
    let first = parts.first().map_or(&[][..], |it| it.dims());
    let axis = resolve_axis(axis, first.len())?;
    let mut dims = InlineList::from(first);
    for (index, part) in parts.iter().enumerate().skip(1) {
        let is_same = |it: usize| it == axis || part.dims()[it] == first[it];
        if part.dims().len() != first.len() || !(0..first.len()).all(is_same) {
            return invalid!(
                "{}: shape[0] = {} vs. shape[{index}] = {}",
                mismatch(axis, first, part.dims()),
                Dims(first),
                Dims(part.dims())
            );
        }
        dims[axis] = dims[axis].saturating_add(part.dims()[axis]);
    }
    write_joined(&parts, axis, &dims, output)
}

/// Returns what differs between the shapes of two parts that are joined along an axis.
fn mismatch(axis: usize, first: &[usize], other: &[usize]) -> String {
    let mut axes = 0..first.len().min(other.len());
    match axes.find(|it| *it != axis && first[*it] != other[*it]) {
        Some(dim) if first.len() == other.len() => {
            format!("ConcatOp : Dimension {dim} in both shapes must be equal")
        }
        _ => "ConcatOp : Ranks of all input tensors should match".into(),
    }
}

/// Joins the rows of the parts; the dims before `axis` count them.
fn write_joined<S: Placement>(
    parts: &Inputs<BytesIn<'_, S>>,
    axis: usize,
    dims: &[usize],
    output: BytesOut<'_, S>,
) -> Result<()> {
    let rows = len(&dims[..axis]);
    let mut output = output.uninit(dims)?;
    let row = |it: &BytesIn<'_, S>| it.bytes().len().checked_div(rows).unwrap_or(0);
    let pieces = parts.iter().map(|it| (it.as_uninit_slice(), row(it)));
    // As many as `parts` has without an allocation.
    let mut inline = [(&[][..], 0); 16];
    match inline.get_mut(..parts.len()) {
        Some(inline) => {
            inline
                .iter_mut()
                .zip(pieces)
                .for_each(|(slot, it)| *slot = it);
            concat_rows(rows, inline, output.as_uninit_slice());
        }
        None => concat_rows(
            rows,
            &allocation::collect_unsized(pieces),
            output.as_uninit_slice(),
        ),
    }
    Ok(())
}

#[kernel(Pack, T = [..])]
fn pack(
    values: BytesInList<'_, HostInt32>,
    output: BytesOut<'_, HostInt32>,
    axis: i64,
) -> Result<()> {
    let parts = values.fetch()?;
    let first = parts.first().map_or(&[][..], |it| it.dims());
    let axis = resolve_axis(axis, first.len() + 1)?;
    let mut others = parts.iter().enumerate();
    if let Some((index, other)) = others.find(|(_, it)| it.dims() != first) {
        return invalid!(
            "Shapes of all inputs must match: values[0].shape = {} != values[{index}].shape = {}",
            Dims(first),
            Dims(other.dims())
        );
    }
    let mut dims = InlineList::from(&first[..axis]);
    dims.push(parts.len());
    first[axis..].iter().for_each(|dim| dims.push(*dim));
    write_joined(&parts, axis, &dims, output)
}

#[kernel(Unpack, T = [..])]
fn unpack(
    value: BytesIn<'_, HostInt32>,
    output: BytesOutList<'_, HostInt32>,
    axis: i64,
) -> Result<()> {
    let axis = resolve_axis(axis, value.dims().len())?;
    let (count, dim) = (output.len(), value.dims()[axis]);
    if dim != count {
        return invalid!("axis {axis} of value has {dim} elements for {count} outputs");
    }
    write_parts(&value, axis, std::iter::repeat(None), output)
}

#[kernel(Split, T = [..])]
fn split(
    split_dim: HostIn<'_, i32>,
    value: BytesIn<'_>,
    mut output: BytesOutList<'_>,
) -> Result<()> {
    let (dims, count) = (value.dims(), output.len());
    let axis = resolve_axis(read_scalar("split_dim", &split_dim)?.into(), dims.len())?;
    if count == 1 {
        return output.try_for_each(|it| it.set(&value));
    }
    if !dims[axis].is_multiple_of(count) {
        return invalid!(
            "Number of ways to split should evenly divide the split dimension, but got split_dim {axis} (size = {}) and num_split {count}",
            dims[axis]
        );
    }
    let size = dims[axis] / count;
    write_parts(&value, axis, std::iter::repeat(Some(size)), output)
}

#[kernel(SplitV, T = [..])]
fn split_v(
    value: BytesIn<'_>,
    size_splits: HostIn<'_, Index>,
    split_dim: HostIn<'_, i32>,
    output: BytesOutList<'_>,
) -> Result<()> {
    check_vector("size_splits", size_splits.dims())?;
    if size_splits.len() != output.len() {
        let (sizes, outputs) = (size_splits.len(), output.len());
        return invalid!("size_splits has {sizes} elements for {outputs} outputs");
    }
    let axis = resolve_axis(split_dim.scalar()?.into(), value.dims().len())?;
    let dim = value.dims()[axis];
    let sizes = part_sizes(dim, &list(&size_splits)).ok_or_else(|| {
        let sizes = list(&size_splits);
        Error::invalid_argument(format!(
            "size_splits {:?} must either match the shape along split_dim exactly, dimension {axis} of {dim}, or have one -1: \
             Determined shape must either match input shape along split_dim exactly if fully specified, or be less than its size",
            &*sizes
        ))
    })?;
    write_parts(&value, axis, sizes.iter().copied().map(Some), output)
}

/// Returns the sizes of parts, of which one may be -1 for the rest.
fn part_sizes(dim: usize, stated: &[i64]) -> Option<InlineList<usize>> {
    let dim = i64::try_from(dim).ok()?;
    let mut known = stated.iter().filter(|it| **it != -1);
    let known = known.try_fold(0_i64, |sum, it| sum.checked_add(*it).filter(|_| *it >= 0))?;
    let unknown = stated.iter().filter(|it| **it == -1).count();
    let rest = dim.checked_sub(known).filter(|rest| *rest >= 0)?;
    // TensorFlow has no -1 for a single part.
    let is_whole = unknown == 0 && rest == 0;
    if !is_whole && (unknown != 1 || stated.len() == 1) {
        return None;
    }
    let mut sizes = InlineList::new(0);
    for size in stated {
        sizes.push(usize::try_from(if *size == -1 { rest } else { *size }).ok()?);
    }
    Some(sizes)
}

/// Writes one part after the other along an axis. A part without a size has length 1, and not the axis.
fn write_parts<S: Placement>(
    value: &BytesIn<'_, S>,
    axis: usize,
    sizes: impl Iterator<Item = Option<usize>>,
    output: BytesOutList<'_, S>,
) -> Result<()> {
    let dims = value.dims();
    let (rows, inner) = (len(&dims[..axis]), len(&dims[axis + 1..]));
    let mut start = 0;
    for (output, size) in output.zip(sizes) {
        let mut part_dims = InlineList::from(&dims[..axis]);
        size.iter().for_each(|it| part_dims.push(*it));
        dims[axis + 1..].iter().for_each(|dim| part_dims.push(*dim));
        let columns_len = size.unwrap_or(1) * inner;
        let view = columns(rows, dims[axis].saturating_mul(inner), start, columns_len);
        let mut output = output.uninit(&part_dims)?;
        copy(
            &view,
            value.width(),
            value.as_uninit_slice(),
            output.as_uninit_slice(),
        );
        start += columns_len;
    }
    Ok(())
}

table! { concat_v2, concat_v1, pack, unpack, split, split_v }
