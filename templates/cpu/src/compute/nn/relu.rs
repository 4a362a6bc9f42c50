//! The rectified linear unit and its gradient, on one element; for `map`.

use crate::compute::arith::Number;

/// `max(x, 0)`; NaN stays NaN, -0 becomes 0.
#[inline(always)]
pub fn relu<T: Number>(x: T) -> T {
    if x <= T::ZERO { T::ZERO } else { x }
}

/// The gradient where the feature is above 0. Elsewhere the gradient times 0, as TensorFlow computes it: NaN of an infinite gradient.
#[inline(always)]
pub fn relu_grad<T: Number>(gradient: T, feature: T) -> T {
    let slope = if feature > T::ZERO { T::ONE } else { T::ZERO };
    gradient.times(slope)
}
