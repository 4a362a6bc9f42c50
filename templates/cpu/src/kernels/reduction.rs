//! Kernels that fold a tensor along some of its axes.

use super::prelude::*;
use crate::compute::reduce::{Fold, Mean, Reduction, Sum, reduce};

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
