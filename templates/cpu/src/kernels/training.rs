//! Kernels of optimizers on resource variables, as `tf.raw_ops` and the optimizers before Keras 2.11 call them.
//!
//! The variables of a step are locked together even with `use_locking = false`, which only permits other kernels to
//! see half of a step.

use super::prelude::*;
use crate::compute::map::update;
use crate::compute::training::{Adam, Momentum};
use sp_plugin::kernel::{Kernel, LazyIn, Variable, VariableValue, kernels, lock_all};

/// var -= alpha * delta
#[kernel(ResourceApplyGradientDescent, T = [f32, f64])]
fn apply_gradient_descent<T: Element + Number>(
    var: Variable<'_, T>,
    alpha: In<'_, T>,
    delta: LazyIn<'_, T>,
) -> Result<()> {
    let alpha = alpha.scalar()?;
    var.update(delta, |variable, delta| {
        update(variable, delta, |old, slope| old.minus(alpha.times(slope)));
    })
}

#[kernel(ResourceApplyAdam, T = [f32, f64])]
fn apply_adam<T: Element + Float>(
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
        beta1_power: beta1_power.scalar()?,
        beta2_power: beta2_power.scalar()?,
        rate: lr.scalar()?,
        beta1: beta1.scalar()?,
        beta2: beta2.scalar()?,
        epsilon: epsilon.scalar()?,
        use_nesterov,
    };
    let mut lock = lock_all([var, m, v])?;
    let mut values = lock.values()?;
    check_shapes(["var", "m", "v"], &values, &grad)?;
    let [var, m, v] = values.each_mut().map(|it| &mut **it);
    adam.step([var, m, v], grad.data());
    Ok(())
}

macro_rules! momentum_kernels {
    ($($name:ident: $op:ident => $step:path;)*) => {$(
        #[kernel($op, T = [f32, f64])]
        fn $name<T: Element + Float>(
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

/// Changes a variable and its accumulator by `step`.
fn apply<T: Element + Float>(
    variables: [Variable<'_, T>; 2],
    [rate, momentum]: [&In<'_, T>; 2],
    gradient: &In<'_, T>,
    use_nesterov: bool,
    step: fn(&Momentum<T>, [&mut [T]; 2], &[T]),
) -> Result<()> {
    let momentum = Momentum {
        rate: rate.scalar()?,
        momentum: momentum.scalar()?,
        use_nesterov,
    };
    let mut lock = lock_all(variables)?;
    let mut values = lock.values()?;
    check_shapes(["var", "accum"], &values, gradient)?;
    step(
        &momentum,
        values.each_mut().map(|it| &mut **it),
        gradient.data(),
    );
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
