//! Activation functions and their gradients, on one element; for `map`. Gradients at kinks are those of TensorFlow.

use crate::compute::scalar::arith::{Number, greatest, least};
use crate::compute::scalar::elementary::Elementary;

/// The scale of `selu`.
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
/// The scale of `selu` times its alpha.
const SELU_SCALE_ALPHA: f64 = 1.758_099_340_847_376_8;

/// Returns `1 / x`.
#[inline(always)]
pub fn reciprocal<T: Elementary>(x: T) -> T {
    T::ONE.over(x)
}

/// Returns `1 / sqrt(x)`.
#[inline(always)]
pub fn rsqrt<T: Elementary>(x: T) -> T {
    T::ONE.over(x.root())
}

/// Returns the sign: -1, 0 or 1; NaN of NaN.
#[inline(always)]
pub fn sign<T: Number>(x: T) -> T {
    let negative = if x < T::ZERO {
        T::ONE.negated()
    } else {
        x.minus(x)
    };
    if x > T::ZERO { T::ONE } else { negative }
}

/// Returns the absolute value; the lowest integer is unchanged.
#[inline(always)]
pub fn abs<T: Number>(x: T) -> T {
    // 0 - x, so that -0 gives 0.
    if x <= T::ZERO { T::ZERO.minus(x) } else { x }
}

/// Returns `x` limited to 0 and 6.
#[inline(always)]
pub fn relu6<T: Elementary>(x: T) -> T {
    let six = T::constant(6.0);
    let x = if x <= T::ZERO { T::ZERO } else { x };
    if x > six { six } else { x }
}

/// Returns `x` limited to 0 and 6.
pub fn relu6_int(x: i64) -> i64 {
    x.clamp(0, 6)
}

/// Returns the gradient of [`relu6_int`] from its result or its argument.
pub fn relu6_grad_int(gradient: i64, x: i64) -> i64 {
    if x > 0 && x < 6 { gradient } else { 0 }
}

/// Returns the gradient of [`relu6`] from its result or its argument.
#[inline(always)]
pub fn relu6_grad<T: Elementary>(gradient: T, x: T) -> T {
    let slope = if x > T::ZERO && x < T::constant(6.0) {
        T::ONE
    } else {
        T::ZERO
    };
    gradient.times(slope)
}

/// Returns `e^x - 1` below 0, else `x`.
#[inline(always)]
pub fn elu<T: Elementary>(x: T) -> T {
    let negative = x.exp_minus_one();
    if x < T::ZERO { negative } else { x }
}

/// Returns the gradient of [`elu`] from its result.
#[inline(always)]
pub fn elu_grad<T: Elementary>(gradient: T, y: T) -> T {
    let negative = y.plus(T::ONE).times(gradient);
    if y < T::ZERO { negative } else { gradient }
}

/// Returns the scaled [`elu`].
#[inline(always)]
pub fn selu<T: Elementary>(x: T) -> T {
    let negative = T::constant(SELU_SCALE_ALPHA).times(x.exp_minus_one());
    if x < T::ZERO {
        negative
    } else {
        T::constant(SELU_SCALE).times(x)
    }
}

/// Returns the gradient of [`selu`] from its result.
#[inline(always)]
pub fn selu_grad<T: Elementary>(gradient: T, y: T) -> T {
    let negative = gradient.times(y.plus(T::constant(SELU_SCALE_ALPHA)));
    if y < T::ZERO {
        negative
    } else {
        gradient.times(T::constant(SELU_SCALE))
    }
}

/// Returns `ln(1 + e^x)`, which is `ln(1 + e^-|x|)` more than the larger one of `x` and 0.
#[inline(always)]
pub fn softplus<T: Elementary>(x: T) -> T {
    let linear = if x < T::ZERO { T::ZERO } else { x };
    linear.plus(x.absolute().negated().exp().ln_plus_one())
}

/// Returns the gradient of [`softplus`].
#[inline(always)]
pub fn softplus_grad<T: Elementary>(gradient: T, x: T) -> T {
    gradient.over(x.negated().exp().plus(T::ONE))
}

/// Returns `x / (1 + |x|)`.
#[inline(always)]
pub fn softsign<T: Elementary>(x: T) -> T {
    x.over(T::ONE.plus(x.absolute()))
}

/// Returns the gradient of [`softsign`].
#[inline(always)]
pub fn softsign_grad<T: Elementary>(gradient: T, x: T) -> T {
    let root = T::ONE.plus(x.absolute());
    gradient.over(root.times(root))
}

/// Returns a function that returns `x` above 0, else `x * alpha`.
#[inline(always)]
pub fn leaky_relu<T: Elementary>(alpha: T) -> impl Fn(T) -> T + Sync + Copy {
    #[inline(always)]
    move |x: T| {
        let negative = x.times(alpha);
        if x > T::ZERO { x } else { negative }
    }
}

/// Returns a function that returns the gradient of [`leaky_relu`] from the gradient of its result and its argument.
#[inline(always)]
pub fn leaky_relu_grad<T: Elementary>(alpha: T) -> impl Fn(T, T) -> T + Sync + Copy {
    #[inline(always)]
    move |gradient: T, x: T| {
        let negative = gradient.times(alpha);
        if x > T::ZERO { gradient } else { negative }
    }
}

/// Returns the gradient of the logistic function from its result.
#[inline(always)]
pub fn sigmoid_grad<T: Elementary>(y: T, gradient: T) -> T {
    gradient.times(y).times(T::ONE.minus(y))
}

/// Returns the gradient of the hyperbolic tangent from its result.
#[inline(always)]
pub fn tanh_grad<T: Elementary>(y: T, gradient: T) -> T {
    gradient.times(T::ONE.minus(y.times(y)))
}

/// Returns the gradient of the square root from its result; 0 of a gradient of 0, even if the result is 0.
#[inline(always)]
pub fn sqrt_grad<T: Elementary>(y: T, gradient: T) -> T {
    unless_zero(gradient, gradient.times(T::constant(0.5)).over(y))
}

/// Returns the gradient of [`rsqrt`] from its result; 0 of a gradient of 0, even if the result is infinite.
#[inline(always)]
pub fn rsqrt_grad<T: Elementary>(y: T, gradient: T) -> T {
    let product = gradient.times(y).times(T::constant(-0.5));
    unless_zero(gradient, product.times(y.times(y)))
}

/// Returns the gradient of [`reciprocal`] from its result; 0 of a gradient of 0, even if the result is infinite.
#[inline(always)]
pub fn reciprocal_grad<T: Elementary>(y: T, gradient: T) -> T {
    unless_zero(gradient, gradient.negated().times(y).times(y))
}

#[inline(always)]
fn unless_zero<T: Elementary>(gradient: T, value: T) -> T {
    if gradient == T::ZERO { T::ZERO } else { value }
}

/// Returns `(x - y)^2`.
#[inline(always)]
pub fn squared_difference<T: Number>(x: T, y: T) -> T {
    let difference = x.minus(y);
    difference.times(difference)
}

/// Returns the larger number; NaN if one is NaN.
#[inline(always)]
#[allow(clippy::eq_op, reason = "false for NaN")]
pub fn maximum<T: Number>(x: T, y: T) -> T {
    let larger = greatest(x, y);
    if y == y { larger } else { y }
}

/// Returns the smaller number; NaN if one is NaN.
#[inline(always)]
#[allow(clippy::eq_op, reason = "false for NaN")]
pub fn minimum<T: Number>(x: T, y: T) -> T {
    let smaller = least(x, y);
    if y == y { smaller } else { y }
}

/// Returns `x / y`, or 0 if `x` is 0.
#[inline(always)]
pub fn xdivy<T: Elementary>(x: T, y: T) -> T {
    let quotient = x.over(y);
    if x == T::ZERO { T::ZERO } else { quotient }
}

/// Returns `x * ln(y)`, or 0 if `x` is 0.
#[inline(always)]
pub fn xlogy<T: Elementary>(x: T, y: T) -> T {
    let product = x.times(y.natural_log());
    if x == T::ZERO { T::ZERO } else { product }
}

/// Returns `x * ln(1 + y)`, or 0 if `x` is 0.
#[inline(always)]
pub fn xlog1py<T: Elementary>(x: T, y: T) -> T {
    let product = x.times(y.ln_plus_one());
    if x == T::ZERO { T::ZERO } else { product }
}

/// Returns `x * y`, or 0 if `y` is 0.
#[inline(always)]
pub fn mul_no_nan<T: Number>(x: T, y: T) -> T {
    let product = x.times(y);
    if y == T::ZERO { T::ZERO } else { product }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradient_of_zero_is_zero_for_infinite_slopes() {
        assert_eq!(sqrt_grad(0.0_f32, 0.0), 0.0);
        assert_eq!(rsqrt_grad(f64::INFINITY, 0.0), 0.0);
        assert_eq!(reciprocal_grad(f32::INFINITY, -0.0), 0.0);
        assert!(reciprocal_grad(f32::NAN, 1.0).is_nan());
    }
}
