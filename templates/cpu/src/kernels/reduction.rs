//! Kernels that fold a tensor along some of its axes.

use super::prelude::*;
use crate::compute::fold::{All, Any, EuclideanNorm, Max, Min, Prod};
use crate::compute::reduce::{Converted, Fold, Mean, Reduction, Source, Sum, reduce_source};
use crate::compute::search::Extremes;
use sp_plugin::kernel::{Kernel, kernels};

/// The table of reductions: the op, which is also the name of the fold, and its kernels by class of element types.
macro_rules! reductions {
    ($($op:ident { $($class:ident $([$($ty:ident),*])?),* })*) => {
        /// Returns the kernels of this file.
        pub fn table() -> Vec<&'static Kernel> {
            let mut table = Vec::new();
            $($(table.extend(reduction!($class $op [$($($ty),*)?]));)*)*
            table
        }
    };
}

/// Evaluates to the kernel of a class:
/// - `numbers`: the types in brackets.
/// - `sizes`: int32, which TensorFlow places in host memory.
/// - `small`: extremes of integers that are computed in `i64`. Without elements they are the limits of `T`.
/// - `truths`: booleans, in ops without an attribute of the type.
macro_rules! reduction {
    (numbers $op:ident $types:tt) => {
        reduction!(@define ($op, T = $types) [T: Element + Precision] [$op: Fold<T::Compute>] T => fold::<T, $op>)
    };
    (small $op:ident []) => {
        reduction!(
            @define ($op, T = [u8, i8]) [T: Element + Extremes + Precision<Compute = i64>] []
            T => fold_small::<T, $op>
        )
    };
    (truths $op:ident []) => {
        reduction!(@define ($op) [] [] Bool => fold::<Bool, $op>)
    };
    (sizes $op:ident []) => {{
        #[kernel($op, T = [i32])]
        fn reduce(
            input: HostIn<'_, i32>,
            reduction_indices: HostIn<'_, Index>,
            output: HostOut<'_, i32>,
            keep_dims: bool,
        ) -> Result<()> {
            fold::<i32, $op>(input.into_input(), reduction_indices, output.into_output(), keep_dims)
        }
        kernels![reduce]
    }};
    (@define $kernel:tt [$($generics:tt)*] [$($bounds:tt)*] $ty:ident => $fold:expr) => {{
        #[kernel $kernel]
        fn reduce<$($generics)*>(
            input: In<'_, $ty>,
            reduction_indices: HostIn<'_, Index>,
            output: Out<'_, $ty>,
            keep_dims: bool,
        ) -> Result<()>
        where
            $($bounds)*
        {
            $fold(input, reduction_indices, output, keep_dims)
        }
        kernels![reduce]
    }};
}

reductions! {
    Sum { numbers [F16, Bf16, f32, f64, u8, i8, i64], sizes }
    Mean { numbers [F16, Bf16, f32, f64, u8, i8, i32, i64] }
    Max { numbers [F16, Bf16, f32, f64, i64], small }
    Min { numbers [F16, Bf16, f32, f64, i64], small }
    Prod { numbers [F16, Bf16, f32, f64, u8, i8, i64], sizes }
    EuclideanNorm { numbers [F16, Bf16, f32, f64] }
    All { truths }
    Any { truths }
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

/// Folds as [`fold`] does, into the limits of `T`.
fn fold_small<T: Element + Extremes + Precision<Compute = i64>, F: Fold<i64>>(
    input: In<'_, T>,
    axes: HostIn<'_, Index>,
    output: Out<'_, T>,
    keep_dims: bool,
) -> Result<()> {
    let plan = Reduction::new(input.dims(), &axes.to_dims())?;
    let mut output = output.zeroed(&plan.dims(keep_dims))?;
    let [lowest, highest] = [T::LOWEST_FINITE, T::HIGHEST_FINITE].map(T::to_compute);
    T::overwrite(&mut output, |output| {
        reduce_source::<i64, F>(&plan, &Converted(input.data()), output);
        output
            .iter_mut()
            .for_each(|it| *it = (*it).clamp(lowest, highest));
    });
    Ok(())
}
