//! Totals of rows that indices select from a table, and their gradients.

use super::gather::to_indices;
use super::prelude::*;
use super::segment::check_segment_ids;
use crate::compute::rows::Indices;
use crate::compute::search::write_indices;
use crate::compute::segment::spread::Spread;
use crate::compute::segment::{Divisible, count_sorted_segments, fold_sorted};
use sp_plugin::kernel::{Kernel, kernels};

/// Kernels of totals, with the number of segments as an input in the second one: `name: Op, name: Op in [types] =>
/// finish(total, count)`.
macro_rules! totals {
    ($($name:ident: $op:ident, $name2:ident: $op2:ident in [$($ty:ident),*] => $finish:expr;)*) => {$(
        #[kernel($op, T = [$($ty),*], Tidx = [i32, i64], Tsegmentids = [i32, i64])]
        fn $name<T: Element + Precision<Compute: Divisible>>(
            data: In<'_, T>,
            indices: BytesIn<'_>,
            segment_ids: BytesIn<'_>,
            output: Out<'_, T>,
        ) -> Result<()> {
            write_totals(data, [&indices, &segment_ids], None, $finish, output)
        }

        #[kernel($op2, T = [$($ty),*], Tidx = [i32, i64], Tsegmentids = [i32, i64])]
        fn $name2<T: Element + Precision<Compute: Divisible>>(
            data: In<'_, T>,
            indices: BytesIn<'_>,
            segment_ids: BytesIn<'_>,
            num_segments: HostIn<'_, Index>,
            output: Out<'_, T>,
        ) -> Result<()> {
            write_totals(data, [&indices, &segment_ids], Some(&num_segments), $finish, output)
        }
    )*};
}

totals! {
    sum: SparseSegmentSum, sum_with_count: SparseSegmentSumWithNumSegments in [F16, Bf16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64] => |total, _| total;
    mean: SparseSegmentMean, mean_with_count: SparseSegmentMeanWithNumSegments in [F16, Bf16, f32, f64] => Divisible::over_count;
    sqrt_n: SparseSegmentSqrtN, sqrt_n_with_count: SparseSegmentSqrtNWithNumSegments in [F16, Bf16, f32, f64] => Divisible::over_root;
}

fn write_totals<T: Element + Precision<Compute: Divisible>>(
    data: In<'_, T>,
    [indices, segment_ids]: [&BytesIn<'_>; 2],
    num_segments: Option<&HostIn<'_, Index>>,
    finish: impl Fn(T::Compute, usize) -> T::Compute,
    output: Out<'_, T>,
) -> Result<()> {
    let Some((rows, row)) = data.dims().split_first() else {
        return invalid!("data must have rows, but is a scalar");
    };
    let (indices, ids) = read_pairs(indices, segment_ids)?;
    indices.check(*rows)?;
    let (used, width) = (count_sorted_segments(ids)?, len(row));
    let segments = num_segments.map_or(Ok(used), |it| read_segments(it, used))?;
    let mut output = output.zeroed(&[&[segments], row].concat())?;
    let data = T::widened(data.data());
    // The indices were checked.
    let row = |at: usize| &data[indices.get(at) as usize * width..][..width];
    T::update(&mut output, |output| {
        fold_sorted(ids, width, row, output, arith::add, finish);
    });
    Ok(())
}

/// Returns the indices and the segments of the selected rows.
fn read_pairs<'a>(
    indices: &'a BytesIn<'_>,
    segment_ids: &'a BytesIn<'_>,
) -> Result<(Indices<'a>, Indices<'a>)> {
    let [count] = *indices.dims() else {
        return invalid!(
            "indices must be a vector, not of shape {:?}",
            indices.dims()
        );
    };
    check_segment_ids(count, segment_ids.dims())?;
    Ok((to_indices(indices)?, to_indices(segment_ids)?))
}

/// Returns the stated number of segments, of which the first ones are used.
fn read_segments(stated: &HostIn<'_, Index>, used: usize) -> Result<usize> {
    let stated = read_index("num_segments", stated)?;
    let count = usize::try_from(stated).ok();
    count.filter(|it| used <= *it).ok_or_else(|| {
        Error::invalid_argument(format!(
            "num_segments is {stated}, but must be at least {used}, the number of segments in segment_ids"
        ))
    })
}

/// Kernels of gradients, the second ones of the distinct indices only: `name: Op, name: Op => part(gradient, count)`.
macro_rules! gradients {
    ($($name:ident: $op:ident, $name2:ident: $op2:ident => $part:expr;)*) => {
        $(
            #[kernel($op, T = [F16, Bf16, f32, f64], Tidx = [i32, i64], Tsegmentids = [i32, i64])]
            fn $name<T: Element + Precision<Compute: Divisible>>(
                grad: In<'_, T>,
                indices: BytesIn<'_>,
                segment_ids: BytesIn<'_>,
                output_dim0: HostIn<'_, i32>,
                output: Out<'_, T>,
            ) -> Result<()> {
                let rows = read_rows("output_dim0", &output_dim0)?;
                let spread = read_gradient(grad.dims(), [&indices, &segment_ids], rows)?;
                write_gradient(&grad, &spread, rows, $part, output)
            }

            #[kernel($op2, T = [F16, Bf16, f32, f64], Tidx = [i32, i64], Tsegmentids = [i32, i64])]
            fn $name2<T: Element + Precision<Compute: Divisible>>(
                grad: In<'_, T>,
                indices: BytesIn<'_>,
                segment_ids: BytesIn<'_>,
                dense_output_dim0: HostIn<'_, i32>,
                output: Out<'_, T>,
                sorted_unique_indices: BytesOut<'_>,
            ) -> Result<()> {
                let rows = read_rows("dense_output_dim0", &dense_output_dim0)?;
                let spread = read_gradient(grad.dims(), [&indices, &segment_ids], rows)?;
                let (unique, spread) = spread.onto_distinct();
                let mut indices = sorted_unique_indices.uninit(&[unique.len()])?;
                // The indices are elements of an input of this type, and not negative.
                let (width, elements) = (indices.width(), unique.iter().map(|it| *it as usize));
                write_indices(indices.as_uninit_slice(), width, elements);
                write_gradient(&grad, &spread, unique.len(), $part, output)
            }
        )*

        /// Returns the kernels of this file.
        pub fn table() -> Vec<&'static Kernel> {
            kernels![sum, sum_with_count, mean, mean_with_count, sqrt_n, sqrt_n_with_count, $($name, $name2),*]
        }
    };
}

gradients! {
    sum_grad: SparseSegmentSumGrad, sum_grad_v2: SparseSegmentSumGradV2 => |gradient, _| gradient;
    mean_grad: SparseSegmentMeanGrad, mean_grad_v2: SparseSegmentMeanGradV2 => Divisible::over_count;
    sqrt_n_grad: SparseSegmentSqrtNGrad, sqrt_n_grad_v2: SparseSegmentSqrtNGradV2 => Divisible::over_root;
}

/// Returns the number of rows of the table.
fn read_rows(name: &str, rows: &HostIn<'_, i32>) -> Result<usize> {
    let rows = read_scalar(name, rows)?;
    usize::try_from(rows).map_err(|_| {
        Error::invalid_argument(format!(
            "{name}, the number of rows, must not be negative, but is {rows}"
        ))
    })
}

/// Returns the rows of a table to which the gradients of segments belong.
fn read_gradient<'a>(
    gradient: &[usize],
    [indices, segment_ids]: [&'a BytesIn<'_>; 2],
    rows: usize,
) -> Result<Spread<'a>> {
    let Some(segments) = gradient.first() else {
        return invalid!("grad must have a row for each segment, but is a scalar");
    };
    let (indices, ids) = read_pairs(indices, segment_ids)?;
    Ok(Spread::new(indices, rows, ids, *segments)?)
}

/// Writes the gradient of a table.
fn write_gradient<T: Element + Precision<Compute: Number>>(
    gradient: &In<'_, T>,
    spread: &Spread<'_>,
    rows: usize,
    part: impl Fn(T::Compute, usize) -> T::Compute + Sync,
    output: Out<'_, T>,
) -> Result<()> {
    let row = gradient.dims().get(1..).unwrap_or_default();
    let mut output = output.zeroed(&[&[rows], row].concat())?;
    let gradient = T::widened(gradient.data());
    T::update(&mut output, |output| {
        spread.add(&gradient, len(row), part, output);
    });
    Ok(())
}
