//! Kernels that fold a tensor along some of its axes.

use super::prelude::*;
use crate::compute::fold::{All, Any, EuclideanNorm, Max, Min, Prod};
use crate::compute::reduce::{Fold, Mean, Reduction, Sum, reduce};
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
    sum: Sum in [F16, Bf16, f32, f64, i64];
    mean: Mean in [F16, Bf16, f32, f64, i64];
    max: Max in [F16, Bf16, f32, f64, i64];
    min: Min in [F16, Bf16, f32, f64, i64];
    prod: Prod in [F16, Bf16, f32, f64, i64];
    euclidean_norm: EuclideanNorm in [F16, Bf16, f32, f64];
}

/// Products of sizes: TensorFlow places int32 in host memory.
#[kernel(Prod, T = [i32])]
fn prod_int32(
    input: HostIn<'_, i32>,
    reduction_indices: HostIn<'_, Index>,
    output: HostOut<'_, i32>,
    keep_dims: bool,
) -> Result<()> {
    let plan = Reduction::new(input.dims(), &reduction_indices.to_dims())?;
    let mut output = output.zeroed(&plan.dims(keep_dims))?;
    // The lower half of a wrapped product is the product of the lower halves.
    let x: Vec<i64> = input.data().iter().map(|x| i64::from(*x)).collect();
    let mut products = vec![0; output.len()];
    reduce::<i64, Prod>(&plan, &x, &mut products);
    for (output, product) in output.iter_mut().zip(products) {
        *output = product as i32;
    }
    Ok(())
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
        prod_int32,
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
    let x = T::widened(input.data());
    let mut output = output.zeroed(&plan.dims(keep_dims))?;
    T::update(&mut output, |output| {
        reduce::<T::Compute, F>(&plan, &x, output)
    });
    Ok(())
}
