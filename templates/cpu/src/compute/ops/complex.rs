//! Functions of complex numbers, on one element; for `map`.
//!
//! All are computed in `f64` and rounded once: no product or square of an `f32` overflows there. Arithmetic with infinities
//! follows the formulas, without the special cases of C's Annex G, which TensorFlow's vector loops do not have either.
//! [`parts`] views numbers as their parts.

use sp_plugin::{Complex64, Complex128};
use std::ops::{Div, Mul};

/// Defines functions of one number on [`Complex64`] by a formula on [`Complex128`].
macro_rules! functions {
    ($($(#[doc = $doc:literal])* $name:ident = |$x:ident| $value:expr;)*) => {$(
        $(#[doc = $doc])*
        pub fn $name(x: Complex64) -> Complex64 {
            let $x = widen(x);
            narrow($value)
        }
    )*};
}

/// Defines functions of two numbers as `functions` does.
macro_rules! operators {
    ($($(#[doc = $doc:literal])* $name:ident = |$x:ident, $y:ident| $value:expr;)*) => {$(
        $(#[doc = $doc])*
        pub fn $name(x: Complex64, y: Complex64) -> Complex64 {
            let ($x, $y) = (widen(x), widen(y));
            narrow($value)
        }
    )*};
}

functions! {
    /// Returns `-x`.
    neg = |x| -x;
    /// Returns the number with the opposite imaginary part.
    conj = |x| x.conjugate();
    /// Returns `x * x`.
    square = |x| x * x;
    /// Returns `1 / x`.
    reciprocal = |x| quotient(Complex128::ONE, x);
    /// Returns `x / |x|`, or 0 of 0.
    sign = |x| if x == Complex128::ZERO { x } else { x.scale(1.0 / x.abs()) };
    /// Returns `e^x`.
    exp = |x| wide_exp(x);
    /// Returns `e^x - 1`, precise near 0.
    exp_minus_one = |x| {
        // cos(y) - 1 is -2 sin(y / 2)^2.
        let half = (x.im / 2.0).sin();
        Complex128::new(x.re.exp_m1() * x.im.cos() - 2.0 * half * half, x.re.exp() * x.im.sin())
    };
    /// Returns the natural logarithm, with an angle between -π and π.
    ln = |x| wide_ln(x);
    /// Returns the logarithm of `1 + x`, precise near 0.
    ln_plus_one = |x| {
        let excess = x.re * (x.re + 2.0) + x.im * x.im;
        Complex128::new(0.5 * excess.ln_1p(), x.im.atan2(1.0 + x.re))
    };
    /// Returns the square root whose real part is not negative.
    sqrt = |x| wide_sqrt(x);
    /// Returns the reciprocal of [`sqrt`].
    rsqrt = |x| quotient(Complex128::ONE, wide_sqrt(x));
    /// Returns `1 / (1 + e^-x)`.
    sigmoid = |x| match x.re < 0.0 {
        true => quotient(wide_exp(x), Complex128::ONE + wide_exp(x)),
        false => quotient(Complex128::ONE, Complex128::ONE + wide_exp(-x)),
    };
    /// Returns the sine.
    sin = |x| Complex128::new(x.re.sin() * x.im.cosh(), x.re.cos() * x.im.sinh());
    /// Returns the cosine.
    cos = |x| Complex128::new(x.re.cos() * x.im.cosh(), -x.re.sin() * x.im.sinh());
    /// Returns the tangent.
    tan = |x| {
        let turned = wide_tanh(Complex128::new(-x.im, x.re));
        Complex128::new(turned.im, -turned.re)
    };
    /// Returns the hyperbolic sine.
    sinh = |x| Complex128::new(x.re.sinh() * x.im.cos(), x.re.cosh() * x.im.sin());
    /// Returns the hyperbolic cosine.
    cosh = |x| Complex128::new(x.re.cosh() * x.im.cos(), x.re.sinh() * x.im.sin());
    /// Returns the hyperbolic tangent.
    tanh = |x| wide_tanh(x);
}

operators! {
    /// Returns `x + y`.
    add = |x, y| x + y;
    /// Returns `x - y`.
    sub = |x, y| x - y;
    /// Returns `x * y`.
    mul = |x, y| x * y;
    /// Returns `x * y`, or 0 if `y` is 0.
    mul_no_nan = |x, y| unless_zero(y, x * y);
    /// Returns `x / y`.
    div = |x, y| quotient(x, y);
    /// Returns `x / y`, or 0 if `y` is 0.
    div_no_nan = |x, y| unless_zero(y, quotient(x, y));
    /// Returns `x` to the power `y`, `e^(y * ln(x))`. Powers of 0 are 0 or, unless the real part of `y` is above 0, NaN.
    pow = |x, y| wide_pow(x, y);
    /// Returns `|x - y|^2`.
    squared_difference = |x, y| (x - y) * (x - y).conjugate();
    /// Returns `x / y`, or 0 if `x` is 0.
    xdivy = |x, y| unless_zero(x, quotient(x, y));
    /// Returns `x * ln(y)`, or 0 if `x` is 0.
    xlogy = |x, y| unless_zero(x, x * wide_ln(y));
    /// Returns the gradient of [`reciprocal`] from its result.
    reciprocal_grad = |y, gradient| -(y.conjugate() * gradient * y.conjugate());
    /// Returns the gradient of [`sqrt`] from its result.
    sqrt_grad = |y, gradient| quotient(gradient.scale(0.5), y.conjugate());
    /// Returns the gradient of [`rsqrt`] from its result.
    rsqrt_grad = |y, gradient| {
        let y = y.conjugate();
        (gradient * y * y * y).scale(-0.5)
    };
    /// Returns the gradient of [`sigmoid`] from the conjugate of its result, as TensorFlow.
    sigmoid_grad = |y, gradient| gradient * y * (Complex128::ONE - y);
    /// Returns the gradient of [`tanh`] from the conjugate of its result, as TensorFlow.
    tanh_grad = |y, gradient| gradient * (Complex128::ONE - y * y);
}

/// Returns the distance from 0.
pub fn abs(x: Complex64) -> f32 {
    x.abs()
}

/// Returns the angle to the positive real axis, in radians.
pub fn angle(x: Complex64) -> f32 {
    x.angle()
}

/// Returns the real part.
pub fn real(x: Complex64) -> f32 {
    x.re
}

/// Returns the imaginary part.
pub fn imag(x: Complex64) -> f32 {
    x.im
}

fn widen(x: Complex64) -> Complex128 {
    Complex128::new(x.re.into(), x.im.into())
}

fn narrow(x: Complex128) -> Complex64 {
    Complex64::new(x.re as f32, x.im as f32)
}

fn unless_zero(x: Complex128, value: Complex128) -> Complex128 {
    if x == Complex128::ZERO { x } else { value }
}

/// Returns `x / y`: NaN if `y` is 0 or infinite, as TensorFlow.
fn quotient(x: Complex128, y: Complex128) -> Complex128 {
    let (product, square) = (x * y.conjugate(), y.re * y.re + y.im * y.im);
    Complex128::new(product.re / square, product.im / square)
}

fn wide_exp(x: Complex128) -> Complex128 {
    let radius = x.re.exp();
    match radius {
        // Any angle of 0 is 0, and infinity times the sine of 0 would be NaN.
        0.0 => Complex128::ZERO,
        _ if x.im == 0.0 => Complex128::new(radius, x.im),
        _ => Complex128::new(radius * x.im.cos(), radius * x.im.sin()),
    }
}

fn wide_ln(x: Complex128) -> Complex128 {
    let square = x.re * x.re + x.im * x.im;
    let radius = match (0.5..2.0).contains(&square) {
        // Near 1 the square has lost the digits that the logarithm consists of.
        true => ((x.re - 1.0) * (x.re + 1.0) + x.im * x.im).ln_1p(),
        false => square.ln(),
    };
    Complex128::new(0.5 * radius, x.angle())
}

fn wide_sqrt(x: Complex128) -> Complex128 {
    if x == Complex128::ZERO {
        return Complex128::new(0.0, x.im);
    }
    let root = (0.5 * (x.abs() + x.re.abs())).sqrt();
    match x.re >= 0.0 {
        true => Complex128::new(root, x.im / (2.0 * root)),
        false => Complex128::new(x.im.abs() / (2.0 * root), root.copysign(x.im)),
    }
}

fn wide_tanh(x: Complex128) -> Complex128 {
    // The quotient is 1 here, and its terms may overflow.
    if x.re.abs() > 300.0 {
        return Complex128::new(1.0_f64.copysign(x.re), 0.0);
    }
    let (sine, cosine) = x.im.sin_cos();
    let (sinh, cosh) = (x.re.sinh(), x.re.cosh());
    let divisor = sinh * sinh + cosine * cosine;
    Complex128::new(sinh * cosh / divisor, sine * cosine / divisor)
}

fn wide_pow(x: Complex128, y: Complex128) -> Complex128 {
    if x == Complex128::ZERO && y.re > 0.0 {
        return x;
    }
    wide_exp(y * wide_ln(x))
}

/// A complex number.
///
/// # Safety
/// - The type has the layout of `[Part; 2]`, and any two parts are a value.
pub unsafe trait Complex:
    Copy + Default + PartialEq + Mul<Output = Self> + Div<Output = Self>
{
    /// The type of the real and of the imaginary part.
    type Part;
    /// The real number 1.
    const ONE: Self;

    /// Returns `self / y`: NaN if `y` is 0 or infinite, as TensorFlow's loops over arrays.
    fn quotient(self, y: Self) -> Self;
}

// SAFETY: the type is `repr(C)` with two fields of `f32`.
unsafe impl Complex for Complex64 {
    type Part = f32;
    const ONE: Self = Self::new(1.0, 0.0);

    fn quotient(self, y: Self) -> Self {
        div(self, y)
    }
}

// SAFETY: the type is `repr(C)` with two fields of `f64`.
unsafe impl Complex for Complex128 {
    type Part = f64;
    const ONE: Self = Self::new(1.0, 0.0);

    fn quotient(self, y: Self) -> Self {
        quotient(self, y)
    }
}

/// Returns the parts of all numbers: real, imaginary, real and so on.
pub fn parts<C: Complex>(x: &[C]) -> &[C::Part] {
    // SAFETY: by the trait, the numbers are twice as many parts, which are aligned; the result borrows `x`.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len() * 2) }
}

/// Returns the parts of all numbers, as [`parts`].
pub fn parts_mut<C: Complex>(x: &mut [C]) -> &mut [C::Part] {
    // SAFETY: as in `parts`; any two parts are a number, and the slice is borrowed mutably.
    unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len() * 2) }
}
