//! Kernels that select slices by indices.

use super::prelude::*;
use crate::compute::movement::gather::{Gather, Index as GatherIndex};
use crate::compute::movement::gather_nd::GatherNd;
use crate::compute::movement::one_hot::one_hot as write_one_hot;
use crate::compute::movement::resolve_axis;
use crate::compute::rows::Indices;
use sp_plugin::kernel::DataType;
use std::mem::MaybeUninit;

#[kernel(GatherV2, Tparams = [..], Tindices: I = [i32, i64])]
fn gather_v2<I: Element + GatherIndex>(
    params: BytesIn<'_>,
    indices: In<'_, I>,
    axis: HostIn<'_, Index>,
    output: BytesOut<'_>,
    batch_dims: i64,
) -> Result<()> {
    gather_along(
        params,
        indices,
        read_index("axis", &axis)?,
        batch_dims,
        output,
    )
}

#[kernel(Gather, Tparams = [..], Tindices: I = [i32, i64])]
fn gather_v1<I: Element + GatherIndex>(
    params: BytesIn<'_>,
    indices: In<'_, I>,
    output: BytesOut<'_>,
) -> Result<()> {
    gather_along(params, indices, 0, 0, output)
}

/// Returns the elements of a tensor of indices of rows.
pub fn to_indices<'a>(indices: &'a BytesIn<'_>) -> Result<Indices<'a>> {
    Ok(match indices.dtype() {
        DataType::TF_INT32 => Indices::Int32(indices.data()?),
        _ => Indices::Int64(indices.data()?),
    })
}

fn gather_along<I: Element + GatherIndex>(
    params: BytesIn<'_>,
    indices: In<'_, I>,
    axis: i64,
    batch_dims: i64,
    output: BytesOut<'_>,
) -> Result<()> {
    let (dims, index_dims) = (params.dims(), indices.dims());
    let axis = resolve_axis(axis, dims.len())?;
    let batch = resolve_batch(batch_dims, index_dims.len(), axis)?;
    if dims[..batch] != index_dims[..batch] {
        return invalid!(
            "the first {batch} dimensions of params {dims:?} and indices {index_dims:?} must be equal"
        );
    }
    let mut result = InlineList::from(&dims[..axis]);
    let rest = index_dims[batch..].iter().chain(&dims[axis + 1..]);
    rest.for_each(|dim| result.push(*dim));
    let plan = Gather {
        batch: len(&dims[..batch]),
        outer: len(&dims[batch..axis]),
        axis: dims[axis],
        inner: len(&dims[axis + 1..]).saturating_mul(params.width()),
        indices: len(&index_dims[batch..]),
    };
    let mut output = output.uninit(&result)?;
    plan.gather(
        params.as_uninit_slice(),
        indices.data(),
        output.as_uninit_slice(),
    )?;
    Ok(())
}

/// Returns the number of dimensions that params and indices share.
fn resolve_batch(batch_dims: i64, rank: usize, axis: usize) -> Result<usize> {
    let resolved = match batch_dims {
        0.. => usize::try_from(batch_dims).ok(),
        _ => rank.checked_add_signed(isize::try_from(batch_dims).unwrap_or(isize::MIN)),
    };
    resolved
        .filter(|it| *it <= rank && *it <= axis)
        .ok_or_else(|| {
            Error::invalid_argument(format!(
                "batch_dims ({batch_dims}) must be at most the axis ({axis}) and the rank of indices ({rank})"
            ))
        })
}

#[kernel(GatherNd, Tparams = [..], Tindices: I = [i32, i64])]
fn gather_nd<I: Element + GatherIndex>(
    params: BytesIn<'_>,
    indices: In<'_, I>,
    output: BytesOut<'_>,
    bad_indices_policy: &str, // since 2.18
) -> Result<()> {
    let plan = GatherNd::new(params.dims(), indices.dims())?
        .with_policy(bad_indices_policy)? // since 2.18
        .with_width(params.width());
    let mut output = output.uninit(plan.output_dims())?;
    plan.gather(
        params.as_uninit_slice(),
        indices.data(),
        MaybeUninit::new(0),
        output.as_uninit_slice(),
    )?;
    Ok(())
}

#[kernel(OneHot, T = [..], TI: I = [u8, i8, i32, i64])]
fn one_hot<I: Element + GatherIndex>(
    indices: In<'_, I>,
    depth: HostIn<'_, i32>,
    on_value: BytesIn<'_>,
    off_value: BytesIn<'_>,
    output: BytesOut<'_>,
    axis: i64,
) -> Result<()> {
    let dims = indices.dims();
    let rejected = |message: String| Err(Error::invalid_argument(message));
    let axis = match usize::try_from(axis) {
        _ if axis == -1 => dims.len(),
        Ok(axis) if axis <= dims.len() => axis,
        _ => {
            let rank = dims.len();
            return rejected(format!("axis must be -1 or from 0 to {rank}, not {axis}"));
        }
    };
    let scalars = [depth.dims(), on_value.dims(), off_value.dims()];
    if scalars.iter().any(|it| !it.is_empty()) {
        return rejected(format!(
            "depth, on_value and off_value must be scalars, not of shapes {scalars:?}"
        ));
    }
    let depth = depth.scalar()?;
    let Ok(depth) = usize::try_from(depth) else {
        return rejected(format!("depth must be non-negative, got: {depth}"));
    };
    let mut result = InlineList::from(&dims[..axis]);
    result.push(depth);
    dims[axis..].iter().for_each(|dim| result.push(*dim));
    let mut output = output.uninit(&result)?;
    write_one_hot(
        [depth, len(&dims[axis..]), on_value.width()],
        indices.data(),
        [on_value.as_uninit_slice(), off_value.as_uninit_slice()],
        output.as_uninit_slice(),
    );
    Ok(())
}

table! { gather_v2, gather_v1, gather_nd, one_hot }
