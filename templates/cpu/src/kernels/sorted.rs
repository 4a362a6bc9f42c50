//! Kernels that find positions in sorted rows, and the rank of one element.

use super::gather::to_indices;
use super::prelude::*;
use crate::compute::rows::Indices;
use crate::compute::search::{is_in_top_k, lower_bound, upper_bound, write_indices};

/// Kernels of bounds: `name: Op => function`.
macro_rules! bounds {
    ($($name:ident: $op:ident => $f:path;)*) => {$(
        #[kernel(
            $op,
            T = [u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64],
            out_type = [i32, i64]
        )]
        fn $name<T: Element + PartialOrd>(
            sorted_inputs: In<'_, T>,
            values: In<'_, T>,
            output: BytesOut<'_>,
        ) -> Result<()> {
            write_bounds(sorted_inputs, values, $f, output)
        }
    )*};
}

bounds! {
    lower: LowerBound => lower_bound;
    upper: UpperBound => upper_bound;
}

fn write_bounds<T: Element>(
    sorted: In<'_, T>,
    values: In<'_, T>,
    bound: impl Fn(&[T], T) -> usize,
    output: BytesOut<'_>,
) -> Result<()> {
    let (&[rows, len], &[value_rows, count]) = (sorted.dims(), values.dims()) else {
        return invalid!(
            "sorted_inputs and values must be matrices, got shapes {:?} and {:?}",
            sorted.dims(),
            values.dims()
        );
    };
    if rows != value_rows {
        return invalid!("{rows} rows of sorted_inputs, and {value_rows} of values");
    }
    let mut output = output.uninit(values.dims())?;
    let width = output.width();
    let row = |at: usize| &sorted.data()[at / count * len..][..len];
    let found = values
        .data()
        .iter()
        .enumerate()
        .map(|(at, value)| bound(row(at), *value));
    write_indices(output.as_uninit_slice(), width, found);
    Ok(())
}

#[kernel(InTopKV2, T = [i32, i64])]
fn in_top_k_v2(
    predictions: In<'_, f32>,
    targets: BytesIn<'_>,
    k: HostIn<'_, Index>,
    precision: Out<'_, Bool>,
) -> Result<()> {
    write_in_top_k(
        predictions,
        to_indices(&targets)?,
        targets.dims(),
        read_index("k", &k)?,
        precision,
    )
}

#[kernel(InTopK, T = [i32, i64])]
fn in_top_k(
    predictions: In<'_, f32>,
    targets: BytesIn<'_>,
    precision: Out<'_, Bool>,
    k: i64,
) -> Result<()> {
    write_in_top_k(
        predictions,
        to_indices(&targets)?,
        targets.dims(),
        k,
        precision,
    )
}

fn write_in_top_k(
    predictions: In<'_, f32>,
    targets: Indices<'_>,
    target_dims: &[usize],
    k: i64,
    precision: Out<'_, Bool>,
) -> Result<()> {
    let dims = predictions.dims();
    let [rows, classes] = *dims else {
        return invalid!("predictions must be 2-dimensional, got shape {dims:?}");
    };
    if target_dims != [rows] {
        return invalid!(
            "First dimension of predictions {rows} must match length of targets {}: targets must be 1-dimensional",
            target_dims.iter().product::<usize>()
        );
    }
    let row = |at: usize| &predictions.data()[at * classes..][..classes];
    precision
        .uninit(&[rows])?
        .write_with(|at| Bool::from(is_in_top_k(row(at), targets.get(at), k)));
    Ok(())
}

table! { lower, upper, in_top_k, in_top_k_v2 }
