//! Kernels that fold a tensor along some of its axes.

use super::prelude::*;
use crate::compute::fold::{All, Any, EuclideanNorm, Max, Min, Prod};
use crate::compute::reduce::{Converted, Fold, Mean, Reduction, Source, Sum, reduce_source};
use crate::compute::search::Extremes;
use sp_plugin::kernel::{HostOut, Kernel, kernels};

/// Kernels that fold: `name: Op in [types]`, where the op is also the name of the fold.
macro_rules! folds {
    ($($name:ident: $op:ident in [$($ty:ident),*];)*) => {$(
        #[kernel($op, T = [$($ty),*])]
        fn $name<T: Element + Precision>(
            input: In<'_, T>,
            reduction_indices: HostIn<'_, Index>,
            output: Out<'_, T>,
            keep_dims: bool,
        ) -> Result<()>
        where
            $op: Fold<T::Compute>,
        {
            fold::<T, $op>(input, reduction_indices, output, keep_dims)
        }
    )*};
}

folds! {
    sum: Sum in [F16, Bf16, f32, f64, u8, i8, i64];
    mean: Mean in [F16, Bf16, f32, f64, u8, i8, i32, i64];
    max: Max in [F16, Bf16, f32, f64, i64];
    min: Min in [F16, Bf16, f32, f64, i64];
    prod: Prod in [F16, Bf16, f32, f64, u8, i8, i64];
    euclidean_norm: EuclideanNorm in [F16, Bf16, f32, f64];
}

/// Sums and products of sizes: TensorFlow places int32 in host memory.
macro_rules! host_folds {
    ($($name:ident: $op:ident;)*) => {$(
        #[kernel($op, T = [i32])]
        fn $name(
            input: HostIn<'_, i32>,
            reduction_indices: HostIn<'_, Index>,
            output: HostOut<'_, i32>,
            keep_dims: bool,
        ) -> Result<()> {
            fold::<i32, $op>(input.into_input(), reduction_indices, output.into_output(), keep_dims)
        }
    )*};
}

host_folds! {
    sum_int32: Sum;
    prod_int32: Prod;
}

/// Extremes of integers that are computed in `i64`: without elements they are the limits of `T`.
macro_rules! small_extremes {
    ($($name:ident: $op:ident;)*) => {$(
        #[kernel($op, T = [u8, i8])]
        fn $name<T: Element + Extremes + Precision<Compute = i64>>(
            input: In<'_, T>,
            reduction_indices: HostIn<'_, Index>,
            output: Out<'_, T>,
            keep_dims: bool,
        ) -> Result<()> {
            let plan = Reduction::new(input.dims(), &reduction_indices.to_dims())?;
            let mut output = output.zeroed(&plan.dims(keep_dims))?;
            T::overwrite(&mut output, |output| {
                reduce_source::<i64, $op>(&plan, &Converted(input.data()), output);
                output.iter_mut().for_each(|it| *it = (*it).clamp(T::LOWEST_FINITE.to_compute(), T::HIGHEST_FINITE.to_compute()));
            });
            Ok(())
        }
    )*};
}

small_extremes! {
    max_small: Max;
    min_small: Min;
}

#[kernel(All)]
fn all(
    input: In<'_, Bool>,
    reduction_indices: HostIn<'_, Index>,
    output: Out<'_, Bool>,
    keep_dims: bool,
) -> Result<()> {
    fold::<Bool, All>(input, reduction_indices, output, keep_dims)
}

#[kernel(Any)]
fn any(
    input: In<'_, Bool>,
    reduction_indices: HostIn<'_, Index>,
    output: Out<'_, Bool>,
    keep_dims: bool,
) -> Result<()> {
    fold::<Bool, Any>(input, reduction_indices, output, keep_dims)
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        sum,
        mean,
        max,
        min,
        prod,
        euclidean_norm,
        sum_int32,
        prod_int32,
        max_small,
        min_small,
        all,
        any
    ]
}

fn fold<T: Element + Precision, F: Fold<T::Compute>>(
    input: In<'_, T>,
    axes: HostIn<'_, Index>,
    output: Out<'_, T>,
    keep_dims: bool,
) -> Result<()> {
    let plan = Reduction::new(input.dims(), &axes.to_dims())?;
    let x = input.data();
    let (as_it_is, converted) = (T::as_compute(x), Converted(x));
    let source: &dyn Source<T::Compute> = match &as_it_is {
        Some(x) => x,
        None => &converted,
    };
    let mut output = output.zeroed(&plan.dims(keep_dims))?;
    T::update(&mut output, |output| {
        reduce_source::<T::Compute, F>(&plan, source, output)
    });
    Ok(())
}
