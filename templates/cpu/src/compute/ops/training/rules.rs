//! Steps of optimizers that compute each element of the variables from their elements at the same index and the
//! gradient's.

use crate::compute::machine::array;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::parallel::for_each_block;
use crate::compute::machine::simd::Isa;
use crate::compute::ops::nn::activation::{maximum, sign};
use crate::compute::scalar::elementary::Real;
use sp_plugin::allocation;

/// A step of an optimizer: its coefficients. The first of the `N` variables is trained, the others are its state.
pub trait Rule<T, const N: usize>: Copy + Sync {
    /// Returns elements of the variables after the step.
    fn step(&self, variables: [T; N], gradient: T) -> [T; N];
}

/// Changes the variables by a step.
///
/// # Panics
/// Panics if the lengths differ.
pub fn apply<T: Real, const N: usize>(
    rule: impl Rule<T, N>,
    variables: [&mut [T]; N],
    gradient: &[T],
) {
    let is_equal = |it: &&mut [T]| it.len() == gradient.len();
    assert!(
        variables.iter().all(is_equal),
        "variable and gradient differ in length"
    );
    let grain = cost::Expensive.grain();
    let mut parts = variables.map(|it| it.chunks_mut(grain));
    let mut next = || parts.each_mut().map(|it| it.next().unwrap_or_default());
    let mut chunks = allocation::collect(gradient.chunks(grain).map(|it| (next(), it)));
    let isa = Isa::current();
    for_each_block(&mut chunks, 1, |_, chunks| {
        for (variables, gradient) in chunks {
            isa.vectorize(
                #[inline(always)]
                || apply_to_chunk(rule, variables, gradient),
            );
        }
    });
}

/// Changes the variables by a step, as [`apply`], on this thread.
///
/// # Panics
/// Panics if a variable has fewer elements than the gradient.
pub fn apply_to_row<T: Real, const N: usize>(
    rule: impl Rule<T, N>,
    mut variables: [&mut [T]; N],
    gradient: &[T],
) {
    Isa::current().vectorize(
        #[inline(always)]
        || apply_to_chunk(rule, &mut variables, gradient),
    );
}

#[inline(always)]
fn apply_to_chunk<T: Real, const N: usize>(
    rule: impl Rule<T, N>,
    variables: &mut [&mut [T]; N],
    gradient: &[T],
) {
    let variables = variables.each_mut().map(|it| &mut it[..gradient.len()]);
    for (index, gradient) in gradient.iter().enumerate() {
        let old = array::from_fn(
            #[inline(always)]
            |n| variables[n][index],
        );
        for (n, new) in rule.step(old, *gradient).into_iter().enumerate() {
            variables[n][index] = new;
        }
    }
}

/// Returns 2.
fn two<T: Real>() -> T {
    T::ONE + T::ONE
}

/// Returns `x` moved toward 0 by `by`, which leaves 0 of a smaller number; NaN of NaN.
#[inline(always)]
fn shrink<T: Real>(x: T, by: T) -> T {
    let rest = x.absolute() - by;
    sign(x) * if rest < T::ZERO { T::ZERO } else { rest }
}

/// Rules: `Name { coefficients } { flags }, [variables], gradient => { elements after the step }`.
macro_rules! rules {
    ($(
        $(#[$doc:meta])*
        $name:ident { $($field:ident),* } { $($flag:ident),* }, [$($variable:ident),*], $gradient:ident =>
        $step:block
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T> {
            $(
                #[doc = concat!("The input `", stringify!($field), "` of the op.")]
                pub $field: T,
            )*
            $(
                #[doc = concat!("The attribute `", stringify!($flag), "` of the op.")]
                pub $flag: bool,
            )*
        }

        impl<T: Real> Rule<T, { [$(stringify!($variable)),*].len() }> for $name<T> {
            #[inline(always)]
            fn step(
                &self,
                [$($variable),*]: [T; [$(stringify!($variable)),*].len()],
                $gradient: T,
            ) -> [T; [$(stringify!($variable)),*].len()] {
                let Self { $($field,)* $($flag,)* } = *self;
                $step
            }
        }
    )*};
}

rules! {
    /// Adagrad: divides by the root of the sum of the squares.
    Adagrad { lr } { update_slots }, [var, accum], g => {
        let accum = if update_slots { accum + g * g } else { accum };
        [var - g * lr / accum.root(), accum]
    }

    /// Adagrad with an epsilon.
    AdagradV2 { lr, epsilon } { update_slots }, [var, accum], g => {
        let accum = if update_slots { accum + g * g } else { accum };
        [var - g * lr / (accum.root() + epsilon), accum]
    }

    /// Adadelta.
    Adadelta { lr, rho, epsilon } {}, [var, accum, accum_update], g => {
        let accum = accum * rho + g * g * (T::ONE - rho);
        let update = (accum_update + epsilon).root() / (accum + epsilon).root() * g;
        let accum_update = accum_update * rho + update * update * (T::ONE - rho);
        [var - update * lr, accum, accum_update]
    }

    /// RMSProp with momentum.
    RmsProp { lr, rho, momentum, epsilon } {}, [var, ms, mom], g => {
        let ms = ms + (g * g - ms) * (T::ONE - rho);
        let mom = mom * momentum + g * lr / (ms + epsilon).root();
        [var - mom, ms, mom]
    }

    /// RMSProp that divides by the deviation of the gradients.
    CenteredRmsProp { lr, rho, momentum, epsilon } {}, [var, mg, ms, mom], g => {
        let ms = ms + (g * g - ms) * (T::ONE - rho);
        let mg = mg + (g - mg) * (T::ONE - rho);
        let mom = mom * momentum + g * lr / (ms - mg * mg + epsilon).root();
        [var - mom, mg, ms, mom]
    }

    /// Adam that divides by the largest second moment so far.
    AdamWithAmsgrad { beta1_power, beta2_power, lr, beta1, beta2, epsilon } {}, [var, m, v, vhat], g => {
        let rate = lr * (T::ONE - beta2_power).root() / (T::ONE - beta1_power);
        let m = m + (g - m) * (T::ONE - beta1);
        let v = v + (g * g - v) * (T::ONE - beta2);
        let vhat = maximum(vhat, v);
        [var - m * rate / (vhat.root() + epsilon), m, v, vhat]
    }

    /// Adam with the largest gradient in place of the second moment.
    AdaMax { beta1_power, lr, beta1, beta2, epsilon } {}, [var, m, v], g => {
        let m = m + (g - m) * (T::ONE - beta1);
        let v = maximum(beta2 * v, g.absolute());
        [var - lr / (T::ONE - beta1_power) * (m / (v + epsilon)), m, v]
    }

    /// Follow the regularized leader.
    Ftrl { lr, l1, l2, lr_power } { multiply_linear_by_lr }, [var, accum, linear], g => {
        let rule = Leader { lr, l1, l2, lr_power, multiply_linear_by_lr };
        rule.step([var, accum, linear], [g, g])
    }

    /// Follow the regularized leader, with a part of the variable added to its gradient.
    FtrlV2 { lr, l1, l2, l2_shrinkage, lr_power } { multiply_linear_by_lr }, [var, accum, linear], g => {
        let rule = Leader { lr, l1, l2, lr_power, multiply_linear_by_lr };
        rule.step([var, accum, linear], [g, g + two::<T>() * l2_shrinkage * var])
    }

    /// Larger steps if the gradient has the sign of its average: a sum.
    AddSign { lr, alpha, sign_decay, beta } {}, [var, m], g => {
        let m = m * beta + g * (T::ONE - beta);
        [var - lr * (alpha + sign_decay * (sign(g) * sign(m))) * g, m]
    }

    /// Larger steps if the gradient has the sign of its average: a power.
    PowerSign { lr, logbase, sign_decay, beta } {}, [var, m], g => {
        let m = m * beta + g * (T::ONE - beta);
        [var - lr * (logbase * sign_decay * (sign(g) * sign(m))).exp() * g, m]
    }

    /// Gradient descent with regularization.
    ProximalGradientDescent { alpha, l1, l2 } {}, [var], g => {
        let next = var - g * alpha;
        let next = if l1 > T::ZERO { shrink(next, alpha * l1) } else { next };
        [next / (T::ONE + l2 * alpha)]
    }

    /// Adagrad with regularization.
    ProximalAdagrad { lr, l1, l2 } {}, [var, accum], g => {
        let accum = accum + g * g;
        let rate = lr / accum.root();
        let next = var - g * rate;
        let next = if l1 > T::ZERO { shrink(next, rate * l1) } else { next };
        [next / (T::ONE + l2 * rate), accum]
    }
}

impl<T: Real> ProximalAdagrad<T> {
    /// Checks the coefficients, as TensorFlow's kernels do on the CPU.
    ///
    /// # Errors
    /// Returns an error if `lr` is not positive, or another is negative.
    pub fn check(&self) -> Result<()> {
        check_regularization(self.lr > T::ZERO, [("l1", self.l1), ("l2", self.l2)])
    }
}

impl<T: Real> Ftrl<T> {
    /// Checks the coefficients, as TensorFlow's kernel of rows does on the CPU.
    ///
    /// # Errors
    /// Returns an error if `lr` is not positive, which may be 0 if it multiplies, if `lr_power` is positive, or if another
    /// is negative.
    pub fn check(&self) -> Result<()> {
        let may_be_zero = self.multiply_linear_by_lr && self.lr == T::ZERO;
        let strengths = [("l1", self.l1), ("l2", self.l2)];
        check_regularization(self.lr > T::ZERO || may_be_zero, strengths)?;
        match self.lr_power <= T::ZERO {
            true => Ok(()),
            false => Err(Error::Invalid(
                "lr_power is not a non-positive scalar".into(),
            )),
        }
    }
}

impl<T: Real> FtrlV2<T> {
    /// Checks the coefficients, as [`Ftrl::check`].
    ///
    /// # Errors
    /// Returns an error for the same values, and for a negative `l2_shrinkage`.
    pub fn check(&self) -> Result<()> {
        let Self {
            lr,
            l1,
            l2,
            lr_power,
            multiply_linear_by_lr,
            ..
        } = *self;
        check_regularization(true, [("l2_shrinkage", self.l2_shrinkage)])?;
        Ftrl {
            lr,
            l1,
            l2,
            lr_power,
            multiply_linear_by_lr,
        }
        .check()
    }
}

/// Checks the learning rate, and that strengths are not negative.
fn check_regularization<T: Real, const N: usize>(
    is_rate_valid: bool,
    strengths: [(&str, T); N],
) -> Result<()> {
    if !is_rate_valid {
        return Err(Error::Invalid("lr is not a positive scalar".into()));
    }
    // NaN is not valid.
    match strengths.iter().all(|(_, strength)| *strength >= T::ZERO) {
        true => Ok(()),
        false => {
            let names = strengths.map(|(name, _)| name).join(" or ");
            let message = format!("{names} is not a non-negative scalar");
            Err(Error::Invalid(message))
        }
    }
}

/// The coefficients that both forms of `Ftrl` have.
struct Leader<T> {
    lr: T,
    l1: T,
    l2: T,
    lr_power: T,
    multiply_linear_by_lr: bool,
}

impl<T: Real> Leader<T> {
    /// Returns the elements after a step with the gradient, and the one with its shrinkage.
    #[inline(always)]
    fn step(&self, [var, accum, linear]: [T; 3], [g, shrinking]: [T; 2]) -> [T; 3] {
        let Self { lr, l1, l2, .. } = *self;
        let sum = accum + g * g;
        let (before, after) = (self.power(accum), self.power(sum));
        // The attribute multiplies all terms by the learning rate, in place of dividing by it.
        let (own, divisor) = if self.multiply_linear_by_lr {
            (lr, T::ONE)
        } else {
            (T::ONE, lr)
        };
        let linear = linear + (shrinking * own - (after - before) / divisor * var);
        let limit = l1 * own;
        let shrunk = (limit * sign(linear) - linear) / (after / divisor + two::<T>() * l2 * own);
        let var = if linear.absolute() > limit {
            shrunk
        } else {
            T::ZERO
        };
        [var, sum, linear]
    }

    /// Returns the power of an accumulated gradient.
    #[inline(always)]
    fn power(&self, accum: T) -> T {
        match self.lr_power == T::constant(-0.5) {
            true => accum.root(),
            false => accum.power(self.lr_power.negated()),
        }
    }
}
