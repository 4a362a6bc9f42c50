//! Kernels of optimizers on resource variables, as `tf.raw_ops` and the optimizers before Keras 2.11 call them.
//!
//! The variables of a step are locked together even with `use_locking = false`, which only permits other kernels to
//! see half of a step.

use super::prelude::*;
use crate::compute::map::update;
use crate::compute::training::{Adam, Momentum};
use sp_plugin::kernel::{Kernel, LazyIn, Variable, VariableValue, kernels, lock_all};

/// var -= alpha * delta
#[kernel(ResourceApplyGradientDescent, T = [F16, Bf16, f32, f64])]
fn apply_gradient_descent<T: Element + Precision<Compute: Number>>(
    var: Variable<'_, T>,
    alpha: In<'_, T>,
    delta: LazyIn<'_, T>,
) -> Result<()> {
    let alpha = alpha.scalar()?.to_compute();
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
        beta1_power: beta1_power.scalar()?.to_compute(),
        beta2_power: beta2_power.scalar()?.to_compute(),
        rate: lr.scalar()?.to_compute(),
        beta1: beta1.scalar()?.to_compute(),
        beta2: beta2.scalar()?.to_compute(),
        epsilon: epsilon.scalar()?.to_compute(),
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
    ($($name:ident: $op:ident => $step:path;)*) => {$(
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

momentum_kernels! {
    apply_momentum: ResourceApplyMomentum => Momentum::step;
    apply_keras_momentum: ResourceApplyKerasMomentum => Momentum::keras_step;
}

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
        rate: rate.scalar()?.to_compute(),
        momentum: momentum.scalar()?.to_compute(),
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
            let message = format!(
                "{name} and grad do not have the same shape: {dims:?} {:?}",
                gradient.dims()
            );
            Err(Error::invalid_argument(message))
        }
    }
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        apply_gradient_descent,
        apply_adam,
        apply_momentum,
        apply_keras_momentum
    ]
}
