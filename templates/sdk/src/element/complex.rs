//! Complex numbers.

use std::ops::{Add, Div, Mul, Neg, Sub};

macro_rules! complex {
    ($($(#[$doc:meta])* $name:ident of $part:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C)]
        pub struct $name {
            /// The real part.
            pub re: $part,
            /// The imaginary part.
            pub im: $part,
        }

        impl $name {
            /// 0
            pub const ZERO: Self = Self::new(0.0, 0.0);
            /// 1
            pub const ONE: Self = Self::new(1.0, 0.0);

            /// Creates the number `re + im * i`.
            #[inline(always)]
            pub const fn new(re: $part, im: $part) -> Self {
                Self { re, im }
            }

            /// Returns the number with the opposite imaginary part.
            #[inline(always)]
            pub fn conjugate(self) -> Self {
                Self::new(self.re, -self.im)
            }

            /// Returns the distance from 0, without overflow of intermediate results.
            #[inline(always)]
            pub fn abs(self) -> $part {
                self.re.hypot(self.im)
            }

            /// Returns the angle to the positive real axis, in radians.
            #[inline(always)]
            pub fn angle(self) -> $part {
                self.im.atan2(self.re)
            }

            /// Returns the product with a real number.
            #[inline(always)]
            pub fn scale(self, factor: $part) -> Self {
                Self::new(self.re * factor, self.im * factor)
            }
        }

        impl From<$part> for $name {
            #[inline(always)]
            fn from(re: $part) -> Self {
                Self::new(re, 0.0)
            }
        }

        impl Add for $name {
            type Output = Self;

            #[inline(always)]
            fn add(self, y: Self) -> Self {
                Self::new(self.re + y.re, self.im + y.im)
            }
        }

        impl Sub for $name {
            type Output = Self;

            #[inline(always)]
            fn sub(self, y: Self) -> Self {
                Self::new(self.re - y.re, self.im - y.im)
            }
        }

        impl Mul for $name {
            type Output = Self;

            #[inline(always)]
            fn mul(self, y: Self) -> Self {
                Self::new(self.re * y.re - self.im * y.im, self.re * y.im + self.im * y.re)
            }
        }

        /// Divides by the part of the divisor that has the larger magnitude first, so that no intermediate result
        /// overflows.
        impl Div for $name {
            type Output = Self;

            #[inline(always)]
            fn div(self, y: Self) -> Self {
                if y.re.abs() >= y.im.abs() {
                    let ratio = y.im / y.re;
                    let divisor = y.re + y.im * ratio;
                    Self::new((self.re + self.im * ratio) / divisor, (self.im - self.re * ratio) / divisor)
                } else {
                    let ratio = y.re / y.im;
                    let divisor = y.re * ratio + y.im;
                    Self::new((self.re * ratio + self.im) / divisor, (self.im * ratio - self.re) / divisor)
                }
            }
        }

        impl Neg for $name {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self::new(-self.re, -self.im)
            }
        }
    )*};
}

complex! {
    /// A complex number of two `f32`: TensorFlow's `complex64`.
    Complex64 of f32;
    /// A complex number of two `f64`: TensorFlow's `complex128`.
    Complex128 of f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_that_of_complex_numbers() {
        let (x, y) = (Complex128::new(1.0, 2.0), Complex128::new(3.0, -4.0));
        assert_eq!(x + y, Complex128::new(4.0, -2.0));
        assert_eq!(x - y, Complex128::new(-2.0, 6.0));
        assert_eq!(x * y, Complex128::new(11.0, 2.0));
        assert_eq!(x * y / y, x);
        assert_eq!(y * x / x, y);
        assert_eq!(-x, Complex128::new(-1.0, -2.0));
        assert_eq!((y * y.conjugate(), y.abs()), (25.0.into(), 5.0));
        assert_eq!(
            Complex64::new(0.0, 1.0).angle(),
            std::f32::consts::FRAC_PI_2
        );
        assert_eq!(Complex64::ONE.scale(2.0), 2.0.into());
    }

    #[test]
    fn division_does_not_overflow() {
        let large = Complex64::new(1e30, 1e30);
        assert_eq!(large / large, Complex64::ONE);
        assert_eq!(large.abs(), 1e30_f32.hypot(1e30));
    }
}
