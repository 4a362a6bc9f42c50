//! Kernels of optimizers on rows of resource variables, as the optimizers before Keras 2.11 call them for embeddings. The
//! variables of a step are locked together, as in the kernels of whole variables.

use super::gather::to_indices;
use super::optimizers::{with_momentum, with_rules};
use super::prelude::*;
use crate::compute::elementary::Real;
use crate::compute::training::Momentum;
use crate::compute::training::rows::Rows;
use crate::compute::training::rules;
use sp_plugin::kernel::{Variable, lock_all};

macro_rules! rule_kernels {
    (both { $(
        $name:ident: $of_variables:ident ($($other_check:ident)?), $op:ident ($($shape:ident $(, $check:ident)?)?)
            for [$($variable:ident),*] ($($field:ident),*) ($($flag:ident),*), $gradient:ident => $rule:ident;
    )* } $($other:tt)*) => {
        $(
            #[kernel($op, T = [F16, Bf16, f32, f64], Tindices = [i32, i64])]
            fn $name<T: Element + Precision<Compute: Real>>(
                $($variable: Variable<'_, T>,)*
                $($field: In<'_, T>,)*
                grad: In<'_, T>,
                indices: BytesIn<'_>,
                $($flag: bool,)*
            ) -> Result<()> {
                $($shape(grad.dims())?;)?
                let rule = rules::$rule { $($field: coefficient(stringify!($field), &$field)?,)* $($flag,)* };
                $($(rule.$check()?;)?)?
                apply([$($variable),*], &grad, &indices, |rows, gradient| {
                    rules::apply_to_row(rule, rows, gradient);
                })
            }
        )*

        table! { momentum, keras_momentum, $($name),* }
    };
}

with_rules!(rule_kernels);

macro_rules! momentum_kernels {
    ($($name:ident: $of_variables:ident, $op:ident => $step:path;)*) => {$(
        #[kernel($op, T = [F16, Bf16, f32, f64], Tindices = [i32, i64])]
        fn $name<T: Element + Precision<Compute: Float>>(
            var: Variable<'_, T>,
            accum: Variable<'_, T>,
            lr: In<'_, T>,
            grad: In<'_, T>,
            indices: BytesIn<'_>,
            momentum: In<'_, T>,
            use_nesterov: bool,
        ) -> Result<()> {
            let (rate, momentum) = (coefficient("lr", &lr)?, coefficient("momentum", &momentum)?);
            let coefficients = Momentum { rate, momentum, use_nesterov };
            apply([var, accum], &grad, &indices, |rows, gradient| {
                $step(&coefficients, rows, gradient);
            })
        }
    )*};
}

with_momentum!(momentum_kernels);

/// Checks that rows have elements. TensorFlow's kernels of some optimizers require it.
fn check_elements(gradient: &[usize]) -> Result<()> {
    match gradient.iter().skip(1).all(|it| *it > 0) {
        true => Ok(()),
        false => invalid!("rows of var must have elements, but grad has shape {gradient:?}"),
    }
}

/// Changes rows of variables of one shape by `step(rows, gradient)`.
fn apply<T: Element + Precision, const N: usize>(
    variables: [Variable<'_, T>; N],
    gradient: &In<'_, T>,
    indices: &BytesIn<'_>,
    step: impl Fn([&mut [T::Compute]; N], &[T::Compute]),
) -> Result<()> {
    let mut lock = lock_all(variables)?;
    let mut values = lock.values()?;
    let dims = values.each_ref().map(|it| it.dims());
    if let Some(other) = dims.iter().find(|it| **it != dims[0]) {
        return invalid!(
            "var and its slots must have one shape: {:?} {other:?}",
            dims[0]
        );
    }
    let rows = Rows::new(dims[0], gradient.dims(), indices.dims())?;
    let gradient = T::widened(gradient.data());
    let variables = values.each_mut().map(|it| &mut **it);
    Ok(rows.apply(variables, &gradient, to_indices(indices)?, step)?)
}
