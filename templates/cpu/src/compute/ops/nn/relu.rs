//! The rectified linear unit and its gradient: on one element, for `map`, and in place.

use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_chunk;
use crate::compute::machine::simd::Isa;
use crate::compute::scalar::arith::Number;

/// Returns `max(x, 0)`; NaN gives NaN, -0 gives 0.
#[inline(always)]
pub fn relu<T: Number>(x: T) -> T {
    if x <= T::ZERO { T::ZERO } else { x }
}

/// Returns the gradient if the feature is above 0, and otherwise the gradient times 0, as TensorFlow: NaN for an
/// infinite gradient.
#[inline(always)]
pub fn relu_grad<T: Number>(gradient: T, feature: T) -> T {
    let slope = if feature > T::ZERO { T::ONE } else { T::ZERO };
    gradient.times(slope)
}

/// Replaces each element by [`relu`] of it.
pub fn rectify<T: Number + Send>(x: &mut [T]) {
    let isa = Isa::current();
    for_each_chunk(x, cost::Cheap.grain(), |_, x| {
        isa.vectorize_narrow(
            #[inline(always)]
            || {
                x.iter_mut().for_each(
                    #[inline(always)]
                    |x| *x = relu(*x),
                )
            },
        );
    });
}
