//! Kernels of optimizers on resource variables, as `tf.raw_ops` and the optimizers before Keras 2.11 call them.
//!
//! The variables of a step are locked together even with `use_locking = false`, which only permits other kernels to
//! see half of a step.

use super::optimizers::{with_momentum, with_rules};
use super::prelude::*;
use crate::compute::elementary::Real;
use crate::compute::map::update;
use crate::compute::precision::update_all;
use crate::compute::training::rules::{self, Rule};
use crate::compute::training::{Adam, Momentum};
use sp_plugin::kernel::{Kernel, LazyIn, Variable, VariableValue, kernels, lock_all};

/// Subtracts `alpha * delta` from `var`.
#[kernel(ResourceApplyGradientDescent, T = [F16, Bf16, f32, f64])]
fn apply_gradient_descent<T: Element + Precision<Compute: Number>>(
    var: Variable<'_, T>,
    alpha: In<'_, T>,
    delta: LazyIn<'_, T>,
) -> Result<()> {
    let alpha = coefficient("alpha", &alpha)?;
    var.update(delta, |variable, delta| {
        T::update(variable, |variable| {
            update(variable, &T::widened(delta), descend(alpha))
        });
    })
}

/// Returns a function that subtracts a gradient times `alpha`.
fn descend<T: Number>(alpha: T) -> impl Fn(T, T) -> T {
    #[inline(always)]
    move |old: T, slope: T| old.minus(alpha.times(slope))
}

#[kernel(ResourceApplyAdam, T = [F16, Bf16, f32, f64])]
fn apply_adam<T: Element + Precision<Compute: Float>>(
    var: Variable<'_, T>,
    m: Variable<'_, T>,
    v: Variable<'_, T>,
    beta1_power: In<'_, T>,
    beta2_power: In<'_, T>,
    lr: In<'_, T>,
    beta1: In<'_, T>,
    beta2: In<'_, T>,
    epsilon: In<'_, T>,
    grad: In<'_, T>,
    use_nesterov: bool,
) -> Result<()> {
    let adam = Adam {
        beta1_power: coefficient("beta1_power", &beta1_power)?,
        beta2_power: coefficient("beta2_power", &beta2_power)?,
        rate: coefficient("lr", &lr)?,
        beta1: coefficient("beta1", &beta1)?,
        beta2: coefficient("beta2", &beta2)?,
        epsilon: coefficient("epsilon", &epsilon)?,
        use_nesterov,
    };
    let mut lock = lock_all([var, m, v])?;
    let mut values = lock.values()?;
    check_shapes(["var", "m", "v"], &values, &grad)?;
    let [var, m, v] = values.each_mut().map(|it| &mut **it);
    let gradient = T::widened(grad.data());
    T::update(var, |var| {
        T::update(m, |m| T::update(v, |v| adam.step([var, m, v], &gradient)))
    });
    Ok(())
}

macro_rules! momentum_kernels {
    ($($name:ident: $op:ident, $of_rows:ident => $step:path;)*) => {$(
        #[kernel($op, T = [F16, Bf16, f32, f64])]
        fn $name<T: Element + Precision<Compute: Float>>(
            var: Variable<'_, T>,
            accum: Variable<'_, T>,
            lr: In<'_, T>,
            grad: In<'_, T>,
            momentum: In<'_, T>,
            use_nesterov: bool,
        ) -> Result<()> {
            apply([var, accum], [&lr, &momentum], &grad, use_nesterov, $step)
        }
    )*};
}

with_momentum!(momentum_kernels);

/// A step that changes a variable and its accumulator by a gradient.
type MomentumStep<T> = fn(&Momentum<T>, [&mut [T]; 2], &[T]);

/// Changes a variable and its accumulator by `step`.
fn apply<T: Element + Precision<Compute: Float>>(
    variables: [Variable<'_, T>; 2],
    [rate, momentum]: [&In<'_, T>; 2],
    gradient: &In<'_, T>,
    use_nesterov: bool,
    step: MomentumStep<T::Compute>,
) -> Result<()> {
    let momentum = Momentum {
        rate: coefficient("lr", rate)?,
        momentum: coefficient("momentum", momentum)?,
        use_nesterov,
    };
    let mut lock = lock_all(variables)?;
    let mut values = lock.values()?;
    check_shapes(["var", "accum"], &values, gradient)?;
    let [var, accum] = values.each_mut().map(|it| &mut **it);
    let gradient = T::widened(gradient.data());
    T::update(var, |var| {
        T::update(accum, |accum| step(&momentum, [var, accum], &gradient))
    });
    Ok(())
}

macro_rules! rule_kernels {
    ($($group:ident { $(
        $name:ident: $op:ident ($($check:ident)?) $(, $of_rows:ident ($($row_check:ident),*))?
            for [$($variable:ident),*] ($($field:ident),*) ($($flag:ident),*), $gradient:ident => $rule:ident;
    )* })*) => {
        $($(
            #[kernel($op, T = [F16, Bf16, f32, f64])]
            fn $name<T: Element + Precision<Compute: Real>>(
                $($variable: Variable<'_, T>,)*
                $($field: In<'_, T>,)*
                $gradient: In<'_, T>,
                $($flag: bool,)*
            ) -> Result<()> {
                let rule = rules::$rule { $($field: coefficient(stringify!($field), &$field)?,)* $($flag,)* };
                $(rule.$check()?;)?
                apply_rule(rule, [$(stringify!($variable)),*], [$($variable),*], &$gradient)
            }
        )*)*

        fn rule_table() -> Vec<&'static Kernel> {
            kernels![$($($name),*),*]
        }
    };
}

with_rules!(rule_kernels);

/// Changes variables with these names by the step of a rule.
fn apply_rule<T: Element + Precision<Compute: Real>, const N: usize>(
    rule: impl Rule<T::Compute, N>,
    names: [&str; N],
    variables: [Variable<'_, T>; N],
    gradient: &In<'_, T>,
) -> Result<()> {
    let mut lock = lock_all(variables)?;
    let mut values = lock.values()?;
    check_shapes(names, &values, gradient)?;
    let variables = values.each_mut().map(|it| &mut **it);
    let gradient = T::widened(gradient.data());
    update_all(variables, |variables| {
        rules::apply(rule, variables, &gradient)
    });
    Ok(())
}

/// Checks that variables and gradient have one shape.
fn check_shapes<T: Element, const N: usize>(
    names: [&str; N],
    values: &[VariableValue<'_, T>; N],
    gradient: &In<'_, T>,
) -> Result<()> {
    let dims = values.iter().map(|it| it.dims());
    match names
        .iter()
        .zip(dims)
        .find(|(_, dims)| *dims != gradient.dims())
    {
        None => Ok(()),
        Some((name, dims)) => {
            invalid!(
                "{name} and grad do not have the same shape: {dims:?} {:?}",
                gradient.dims()
            )
        }
    }
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = kernels![apply_gradient_descent, apply_adam, momentum, keras_momentum];
    table.extend(rule_table());
    table
}
