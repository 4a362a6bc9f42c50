//! The rectified linear unit and its gradient, on one element; for `map`.

use crate::compute::arith::Number;

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
