//! Kernels that select elements by a condition or an order.

use super::movement::check_vector;
use super::prelude::*;
use crate::compute::Broadcast;
use crate::compute::movement::gather::Gather;
use crate::compute::movement::resolve_axis;
use crate::compute::movement::select::select as select_elements;
use crate::compute::search::{
    self, Extreme, Extremes, Key, Order, Truth, Uniques, nonzero, write_indices,
};

/// The number of coordinates is known late: the output is allocated after the condition was read.
#[kernel(Where, T = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64, Complex64, Complex128])]
fn where_nonzero<T: Element + Truth>(
    input: In<'_, T, HostInt32>,
    index: Out<'_, i64>,
) -> Result<()> {
    let dims = input.dims();
    if dims.is_empty() || dims.len() > 8 {
        let rank = dims.len();
        return invalid!("WhereOp : Unhandled input dimensions: {rank}");
    }
    let count = search::count_nonzero(input.data());
    let mut index = index.uninit(&[count, dims.len()])?;
    nonzero(dims, input.data(), index.as_uninit_slice());
    Ok(())
}

#[kernel(SelectV2, T = [..])]
fn select_v2(
    condition: In<'_, Bool>,
    t: BytesIn<'_>,
    e: BytesIn<'_>,
    output: BytesOut<'_>,
) -> Result<()> {
    let Ok(plan) = Broadcast::new([condition.dims(), t.dims(), e.dims()]) else {
        return invalid!(
            "condition {}, then {}, and else {} must be broadcastable",
            Dims(condition.dims()),
            Dims(t.dims()),
            Dims(e.dims())
        );
    };
    write_selected(&plan, condition, [t, e], output)
}

/// The condition is a scalar, has the shape of the operands, or is a vector with an element for each row.
#[kernel(Select, T = [..])]
fn select_v1(
    condition: In<'_, Bool>,
    t: BytesIn<'_>,
    e: BytesIn<'_>,
    output: BytesOut<'_>,
) -> Result<()> {
    let (c, x, y) = (condition.dims(), t.dims(), e.dims());
    let is_rows = c.len() == 1 && !x.is_empty() && c[0] == x[0];
    if x != y || !(c.is_empty() || c == x || is_rows) {
        return invalid!(
            "t and e must have one shape, and condition must have theirs, be a scalar or have an element for each row: t {x:?}, e {y:?}, condition {c:?}"
        );
    }
    let mut condition_dims = InlineList::from(c);
    if is_rows {
        (1..x.len()).for_each(|_| condition_dims.push(1));
    }
    let plan = Broadcast::new([&condition_dims, x, y])?;
    write_selected(&plan, condition, [t, e], output)
}

fn write_selected(
    plan: &Broadcast<3>,
    condition: In<'_, Bool>,
    [t, e]: [BytesIn<'_>; 2],
    output: BytesOut<'_>,
) -> Result<()> {
    let mut output = output.uninit(plan.dims())?;
    let (condition, out) = (condition.data(), output.as_uninit_slice());
    select_elements(
        plan,
        t.width(),
        Bool::get,
        condition,
        [t.bytes(), e.bytes()],
        out,
    );
    Ok(())
}

#[kernel(TopKV2, T = [u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64], index_type = [i16, i32, i64])]
fn top_k<T: Element + Order>(
    input: In<'_, T>,
    k: HostIn<'_, Index>,
    values: Out<'_, T>,
    indices: BytesOut<'_>,
) -> Result<()> {
    let stated = read_index("k", &k)?;
    let Some((row_len, _)) = input.dims().split_last() else {
        return invalid!("input must have rows, but is a scalar");
    };
    let Some(k) = usize::try_from(stated).ok().filter(|k| k <= row_len) else {
        return Err(Error::invalid_argument(match stated < 0 {
            true => format!("Need k >= 0, got {stated}"),
            false => format!("input must have at least k columns. Had {row_len}, needed {stated}"),
        }));
    };
    let mut dims = InlineList::from(input.dims());
    if let Some(last) = dims.last_mut() {
        *last = k;
    }
    let (mut values, mut indices) = (values.uninit(&dims)?, indices.uninit(&dims)?);
    let (values, width) = (values.as_uninit_slice(), indices.width());
    if width == 2 && *row_len > i16::MAX as usize {
        return invalid!(
            "Second dimension of flattened input must be <= {}, the largest index of type int16, got {row_len}",
            i16::MAX
        );
    }
    let indices = indices.as_uninit_slice();
    search::top_k([*row_len, k], input.data(), values, indices, width);
    Ok(())
}

/// Kernels of the best element along an axis: `name: Op => start, extreme`.
macro_rules! extremes {
    ($($name:ident: $op:ident in [$($index:ident),*] => $start:ident, $extreme:ident;)*) => {$(
        #[kernel(
            $op,
            T = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64],
            output_type = [$($index),*]
        )]
        fn $name<T: Element + Extremes>(
            input: In<'_, T>,
            dimension: HostIn<'_, Index>,
            output: BytesOut<'_>,
        ) -> Result<()> {
            let axis = read_index("dimension", &dimension)?;
            write_extreme(Extreme::$extreme, T::$start, input, axis, output)
        }
    )*};
}

extremes! {
    arg_max: ArgMax in [i16, u16, i32, i64] => LOWEST_FINITE, Largest;
    arg_min: ArgMin in [i32, i64] => HIGHEST_FINITE, Smallest;
}

fn write_extreme<T: Element + Extremes>(
    extreme: Extreme,
    start: T,
    input: In<'_, T>,
    dimension: i64,
    output: BytesOut<'_>,
) -> Result<()> {
    let dims = input.dims();
    let axis = resolve_axis(dimension, dims.len())?;
    if dims[axis] == 0 {
        return invalid!(
            "Reduction axis {dimension} is empty in shape {}",
            Dims(dims)
        );
    }
    let mut result = InlineList::from(&dims[..axis]);
    dims[axis + 1..].iter().for_each(|dim| result.push(*dim));
    let shape = [dims[axis], len(&dims[axis + 1..])];
    let mut output = output.uninit(&result)?;
    let width = output.width();
    search::arg_extreme(
        extreme,
        start,
        shape,
        input.data(),
        output.as_uninit_slice(),
        width,
    );
    Ok(())
}

#[kernel(Unique, T = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64], out_idx = [i32, i64])]
fn unique<T: Element + Key>(x: In<'_, T>, y: Out<'_, T>, idx: BytesOut<'_>) -> Result<()> {
    write_unique(x, None, y, idx).map(drop)
}

#[kernel(UniqueV2, T = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64], out_idx = [i32, i64])]
fn unique_v2<T: Element + Key>(
    x: In<'_, T>,
    axis: HostIn<'_, Index>,
    y: Out<'_, T>,
    idx: BytesOut<'_>,
) -> Result<()> {
    write_unique(x, Some(axis), y, idx).map(drop)
}

#[kernel(UniqueWithCounts, T = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64], out_idx = [i32, i64])]
fn unique_with_counts<T: Element + Key>(
    x: In<'_, T>,
    y: Out<'_, T>,
    idx: BytesOut<'_>,
    count: BytesOut<'_>,
) -> Result<()> {
    let uniques = write_unique(x, None, y, idx)?;
    let mut count = count.uninit(&[uniques.counts.len()])?;
    let (width, counts) = (count.width(), uniques.counts.iter().copied());
    write_indices(count.as_uninit_slice(), width, counts);
    Ok(())
}

/// Writes the distinct slices along the axis, which may be left out for a vector, and for each slice where it is among
/// them.
fn write_unique<T: Element + Key>(
    x: In<'_, T>,
    axis: Option<HostIn<'_, Index>>,
    y: Out<'_, T>,
    idx: BytesOut<'_>,
) -> Result<Uniques> {
    let dims = x.dims();
    if let Some(axis) = &axis {
        check_vector("axis", axis.dims())?;
    }
    let axis = match axis.as_ref().filter(|it| !it.is_empty()) {
        Some(it) if it.dims() == [1] => resolve_axis(it.scalar()?, dims.len())?,
        None if dims.len() == 1 => 0,
        _ => {
            return invalid!(
                "unique expects a vector, or one axis; got a tensor of shape {dims:?}"
            );
        }
    };
    let (outer, inner) = (len(&dims[..axis]), len(&dims[axis + 1..]));
    let mut indices = idx.uninit(&[dims[axis]])?;
    let width = indices.width();
    let out = indices.as_uninit_slice();
    let uniques = search::unique([outer, dims[axis], inner], x.data(), |slice, unique| {
        let element = &mut out[slice * width..][..width];
        write_indices(element, width, std::iter::once(unique));
    });
    let mut result = InlineList::from(dims);
    result[axis] = uniques.firsts.len();
    let plan = Gather {
        batch: 1,
        outer,
        axis: dims[axis],
        inner,
        indices: uniques.firsts.len(),
    };
    plan.gather_elements(
        x.data(),
        &uniques.firsts,
        y.uninit(&result)?.as_uninit_slice(),
    );
    Ok(uniques)
}

table! {
    where_nonzero, select_v2, select_v1, top_k, arg_max, arg_min, unique, unique_v2,
    unique_with_counts,
}
