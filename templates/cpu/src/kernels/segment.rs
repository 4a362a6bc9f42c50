//! Totals of rows that belong together.

use super::gather::to_indices;
use super::prelude::*;
use crate::compute::complex::{Complex, parts, parts_mut};
use crate::compute::rows::Indices;
use crate::compute::search::Extremes;
use crate::compute::segment::{
    Divisible, count_sorted_segments, fold_segments, fold_sorted, larger, smaller,
};

/// Kernels of rows in any order: `name: Op => start, f(old, new)`.
macro_rules! unsorted {
    ($($name:ident: $op:ident => $start:expr, $f:path;)*) => {$(
        #[kernel(
            $op,
            T = [F16, Bf16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64],
            Tindices = [i32, i64]
        )]
        fn $name<T: Element + Extremes + Precision<Compute: Number>>(
            data: In<'_, T>,
            segment_ids: BytesIn<'_>,
            num_segments: HostIn<'_, Index>,
            output: Out<'_, T>,
        ) -> Result<()> {
            let stated = read_index("num_segments", &num_segments)?;
            write_unsorted(data, to_indices(&segment_ids)?, segment_ids.dims(), stated, $start, $f, output)
        }
    )*};
}

unsorted! {
    unsorted_sum: UnsortedSegmentSum => Number::ZERO, arith::add;
    unsorted_prod: UnsortedSegmentProd => Number::ONE, arith::mul;
    unsorted_min: UnsortedSegmentMin => T::HIGHEST_FINITE.to_compute(), smaller;
    unsorted_max: UnsortedSegmentMax => T::LOWEST_FINITE.to_compute(), larger;
}

fn write_unsorted<T: Element + Precision<Compute: Number>>(
    data: In<'_, T>,
    ids: Indices<'_>,
    id_dims: &[usize],
    stated: i64,
    start: T::Compute,
    f: impl Fn(T::Compute, T::Compute) -> T::Compute + Sync,
    output: Out<'_, T>,
) -> Result<()> {
    let (segments, row) = unsorted_dims(data.dims(), id_dims, stated)?;
    let mut output = output.zeroed(&[&[segments], row].concat())?;
    let (data, width) = (T::widened(data.data()), len(row));
    T::update(&mut output, |output| {
        output.fill(start);
        fold_segments(ids, &data, width, segments, output, f)
    })?;
    Ok(())
}

/// Returns the number of segments and the dims of a row.
fn unsorted_dims<'a>(
    dims: &'a [usize],
    id_dims: &[usize],
    stated: i64,
) -> Result<(usize, &'a [usize])> {
    if !dims.starts_with(id_dims) {
        return invalid!(
            "data of shape {dims:?} must start with the dimensions {id_dims:?} of segment_ids"
        );
    }
    let Ok(segments) = usize::try_from(stated) else {
        return invalid!("num_segments must be non-negative, but is {stated}");
    };
    Ok((segments, &dims[id_dims.len()..]))
}

/// Sums the real and the imaginary parts.
#[kernel(UnsortedSegmentSum, T = [Complex64], Tindices = [i32, i64])]
fn unsorted_sum_complex(
    data: In<'_, Complex64>,
    segment_ids: BytesIn<'_>,
    num_segments: HostIn<'_, Index>,
    output: Out<'_, Complex64>,
) -> Result<()> {
    let (dims, id_dims) = (data.dims(), segment_ids.dims());
    let (segments, row) = unsorted_dims(dims, id_dims, read_index("num_segments", &num_segments)?)?;
    let mut output = output.zeroed(&[&[segments], row].concat())?;
    let (x, sums, width) = (parts(data.data()), parts_mut(&mut output), len(row) * 2);
    let ids = to_indices(&segment_ids)?;
    Ok(fold_segments(ids, x, width, segments, sums, arith::add)?)
}

/// Products of complex numbers. The function is called by a pointer, so that both types have one loop.
#[kernel(UnsortedSegmentProd, T = [Complex64, Complex128], Tindices = [i32, i64])]
fn unsorted_prod_complex<T: Element + Complex>(
    data: In<'_, T>,
    segment_ids: BytesIn<'_>,
    num_segments: HostIn<'_, Index>,
    output: Out<'_, T>,
) -> Result<()> {
    let (dims, id_dims) = (data.dims(), segment_ids.dims());
    let (segments, row) = unsorted_dims(dims, id_dims, read_index("num_segments", &num_segments)?)?;
    let mut output = output.zeroed(&[&[segments], row].concat())?;
    output.fill(T::ONE);
    let (ids, multiply) = (to_indices(&segment_ids)?, T::mul as fn(T, T) -> T);
    Ok(fold_segments(
        ids,
        data.data(),
        len(row),
        segments,
        &mut output,
        multiply,
    )?)
}

/// Kernels of rows whose indices ascend: `name: Op => f(old, new), finish(total, count), the total of no rows`.
macro_rules! sorted {
    ($($name:ident: $op:ident => $f:path, $finish:expr, $empty:expr;)*) => {$(
        #[kernel(
            $op,
            T = [F16, Bf16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64],
            Tindices = [i32, i64]
        )]
        fn $name<T: Element + Precision<Compute: Divisible>>(
            data: In<'_, T>,
            segment_ids: BytesIn<'_>,
            output: Out<'_, T>,
        ) -> Result<()> {
            let Some((rows, row)) = data.dims().split_first() else {
                return invalid!("data must have rows, but is a scalar");
            };
            check_segment_ids(*rows, segment_ids.dims())?;
            let (ids, width) = (to_indices(&segment_ids)?, len(row));
            let mut output = output.zeroed(&[&[count_sorted_segments(ids)?], row].concat())?;
            let data = T::widened(data.data());
            T::update(&mut output, |output| {
                output.fill($empty);
                fold_sorted(ids, width, |at| &data[at * width..][..width], output, $f, $finish);
            });
            Ok(())
        }
    )*};
}

sorted! {
    sum: SegmentSum => arith::add, |total, _| total, Number::ZERO;
    mean: SegmentMean => arith::add, |total, count| T::wrapped(total).over_count(count), Number::ZERO;
    prod: SegmentProd => arith::mul, |total, _| total, Number::ONE;
    min: SegmentMin => smaller, |total, _| total, Number::ZERO;
    max: SegmentMax => larger, |total, _| total, Number::ZERO;
}

/// Checks that there is an index for each row.
pub fn check_segment_ids(rows: usize, dims: &[usize]) -> Result<()> {
    match dims == [rows] {
        true => Ok(()),
        false => invalid!(
            "segment_ids should be the same size as dimension 0 of input: a vector of {rows} elements, not of shape {}",
            Dims(dims)
        ),
    }
}

table! {
    unsorted_sum, unsorted_sum_complex, unsorted_prod_complex, unsorted_prod, unsorted_min,
    unsorted_max, sum, mean, prod, min, max,
}
