//! Steps of optimizers: changes of variables by their gradients, in place.

pub mod rows;
pub mod rules;

use crate::compute::loops::map::update;
use crate::compute::machine::array;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_chunk;
use crate::compute::machine::simd::Isa;
use crate::compute::scalar::arith::Float;

/// The coefficients of a step of Adam.
#[derive(Clone, Copy, Debug)]
pub struct Adam<T> {
    /// The decay of the first moment, to the power of the steps so far.
    pub beta1_power: T,
    /// The decay of the second moment, to the power of the steps so far.
    pub beta2_power: T,
    /// The learning rate.
    pub rate: T,
    /// The decay of the first moment.
    pub beta1: T,
    /// The decay of the second moment.
    pub beta2: T,
    /// Added to the denominator.
    pub epsilon: T,
    /// True for Nesterov's momentum.
    pub use_nesterov: bool,
}

impl<T: Float> Adam<T> {
    /// Changes a variable and the moments of its gradient.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    pub fn step(&self, [var, m, v]: [&mut [T]; 3], gradient: &[T]) {
        let (keep1, keep2) = (T::ONE.minus(self.beta1), T::ONE.minus(self.beta2));
        let rate = self.rate.times(T::ONE.minus(self.beta2_power).root());
        let rate = rate.over(T::ONE.minus(self.beta1_power));
        update(m, gradient, |m, g| m.plus(g.minus(m).times(keep1)));
        update(v, gradient, |v, g| v.plus(g.times(g).minus(v).times(keep2)));
        let divide = |slope: T, v: T| slope.times(rate).over(v.root().plus(self.epsilon));
        match self.use_nesterov {
            false => update_by([&*m, &*v], var, |var, [m, v]| var.minus(divide(m, v))),
            true => update_by([gradient, &*m, &*v], var, |var, [g, m, v]| {
                let slope = g.times(keep1).plus(self.beta1.times(m));
                var.minus(divide(slope, v))
            }),
        }
    }
}

/// The coefficients of a step with momentum.
#[derive(Clone, Copy, Debug)]
pub struct Momentum<T> {
    /// The learning rate.
    pub rate: T,
    /// The decay of the accumulated gradients.
    pub momentum: T,
    /// True for Nesterov's momentum.
    pub use_nesterov: bool,
}

impl<T: Float> Momentum<T> {
    /// Changes a variable and the sum of its gradients: the learning rate is applied to the sum.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    pub fn step(&self, [var, sum]: [&mut [T]; 2], gradient: &[T]) {
        let Self { rate, momentum, .. } = *self;
        update(sum, gradient, |sum, g| sum.times(momentum).plus(g));
        match self.use_nesterov {
            false => update(var, sum, |var, sum| var.minus(rate.times(sum))),
            true => update_by([gradient, &*sum], var, |var, [g, sum]| {
                let ahead = sum.times(momentum).times(rate);
                var.minus(g.times(rate).plus(ahead))
            }),
        }
    }

    /// Changes a variable and the sum of its steps: the learning rate is applied to each gradient.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    pub fn keras_step(&self, [var, sum]: [&mut [T]; 2], gradient: &[T]) {
        let Self { rate, momentum, .. } = *self;
        update(sum, gradient, |sum, g| {
            sum.times(momentum).minus(g.times(rate))
        });
        match self.use_nesterov {
            false => update(var, sum, |var, sum| var.plus(sum)),
            true => update_by([gradient, &*sum], var, |var, [g, sum]| {
                var.plus(sum.times(momentum).minus(g.times(rate)))
            }),
        }
    }
}

/// Computes `out[i] = f(out[i], [x[i], y[i], ..])` of the inputs `x`, `y`, ...
fn update_by<T: Copy + Send + Sync, const N: usize>(
    inputs: [&[T]; N],
    out: &mut [T],
    f: impl Fn(T, [T; N]) -> T + Sync,
) {
    let is_equal = |input: &&[T]| input.len() == out.len();
    assert!(
        inputs.iter().all(is_equal),
        "operand and result differ in length"
    );
    let isa = Isa::current();
    for_each_chunk(out, cost::Expensive.grain(), |start, out| {
        let inputs = inputs.map(|input| &input[start..start + out.len()]);
        isa.vectorize(
            #[inline(always)]
            || {
                for (index, out) in out.iter_mut().enumerate() {
                    *out = f(*out, array::map(inputs, |input| input[index]));
                }
            },
        );
    });
}
