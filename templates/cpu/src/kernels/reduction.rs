//! Kernels that fold a tensor along some of its axes.

use super::prelude::*;
use crate::compute::reduce::{Fold, Mean, Reduction, Sum, reduce};

#[kernel(Sum, T = [f32, f64, i64])]
fn sum<T: Element>(
    input: In<'_, T>,
    reduction_indices: HostIn<'_, Index>,
    output: Out<'_, T>,
    keep_dims: bool,
) -> Result<()>
where
    Sum: Fold<T>,
{
    fold::<T, Sum>(input, reduction_indices, output, keep_dims)
}

#[kernel(Mean, T = [f32, f64, i64])]
fn mean<T: Element>(
    input: In<'_, T>,
    reduction_indices: HostIn<'_, Index>,
    output: Out<'_, T>,
    keep_dims: bool,
) -> Result<()>
where
    Mean: Fold<T>,
{
    fold::<T, Mean>(input, reduction_indices, output, keep_dims)
}

fn fold<T: Element, F: Fold<T>>(
    input: In<'_, T>,
    axes: HostIn<'_, Index>,
    output: Out<'_, T>,
    keep_dims: bool,
) -> Result<()> {
    let plan = Reduction::new(input.dims(), &axes.to_vec())?;
    reduce::<T, F>(
        &plan,
        input.data(),
        &mut output.zeroed(&plan.dims(keep_dims))?,
    );
    Ok(())
}
