//! Vectors that are transformed at once, so that the loops are vectorized for any length.
//!
//! Rows of a tensor are transformed eight at a time, with the real and imaginary parts of one position side by side.
//! So each step is a vector of eight rows, whatever the factors of the length are.

use super::Part;
use crate::compute::machine::array;
use crate::compute::machine::workspace::Buffer;

/// Vectors that are transformed together: element `k` of vector `lane` is element `k * lanes + lane` of both.
pub struct Planes<T: Part> {
    /// The real parts.
    pub re: Buffer<T>,
    /// The imaginary parts.
    pub im: Buffer<T>,
}

impl<T: Part> Planes<T> {
    /// Creates planes of `len` elements, of unspecified values.
    pub fn new(len: usize) -> Self {
        let (re, im) = (Buffer::new(len), Buffer::new(len));
        Self { re, im }
    }

    /// Exchanges the real and the imaginary parts.
    pub fn swap_parts(&mut self) {
        std::mem::swap(&mut self.re, &mut self.im);
    }
}

/// `N` complex numbers.
#[derive(Clone, Copy)]
pub struct Numbers<T, const N: usize> {
    /// The real parts.
    pub re: [T; N],
    /// The imaginary parts.
    pub im: [T; N],
}

impl<T: Part, const N: usize> Numbers<T, N> {
    /// Zeros.
    pub const ZERO: Self = Self {
        re: [T::ZERO; N],
        im: [T::ZERO; N],
    };

    /// Returns the elements from `start` on.
    ///
    /// # Panics
    /// Panics if there are fewer.
    #[inline(always)]
    pub fn load(from: &Planes<T>, start: usize) -> Self {
        let (re, im) = (&from.re[start..start + N], &from.im[start..start + N]);
        Self::from_fn(
            #[inline(always)]
            |i| (re[i], im[i]),
        )
    }

    /// Writes the numbers from the element `start` on.
    ///
    /// # Panics
    /// Panics if there are fewer elements.
    #[inline(always)]
    pub fn store(&self, to: &mut Planes<T>, start: usize) {
        let (re, im) = (&mut to.re[start..start + N], &mut to.im[start..start + N]);
        re.copy_from_slice(&self.re);
        im.copy_from_slice(&self.im);
    }

    /// Returns the numbers with the real and imaginary parts `f(0)`, `f(1)`, ...
    #[inline(always)]
    pub fn from_fn(f: impl Fn(usize) -> (T, T)) -> Self {
        Self {
            re: array::from_fn(
                #[inline(always)]
                |i| f(i).0,
            ),
            im: array::from_fn(
                #[inline(always)]
                |i| f(i).1,
            ),
        }
    }

    /// Returns the sums.
    #[inline(always)]
    pub fn plus(self, y: Self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i| (self.re[i].plus(y.re[i]), self.im[i].plus(y.im[i])),
        )
    }

    /// Returns the differences.
    #[inline(always)]
    pub fn minus(self, y: Self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i| (self.re[i].minus(y.re[i]), self.im[i].minus(y.im[i])),
        )
    }

    /// Returns the products with a number of these parts.
    #[inline(always)]
    pub fn times(self, [y_re, y_im]: [T; 2]) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i| {
                let (re, im) = (self.re[i], self.im[i]);
                (
                    re.times(y_re).minus(im.times(y_im)),
                    re.times(y_im).plus(im.times(y_re)),
                )
            },
        )
    }

    /// Returns the products with a real number.
    #[inline(always)]
    pub fn scaled(self, y: T) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i| (self.re[i].times(y), self.im[i].times(y)),
        )
    }

    /// Returns the products with `-i`.
    #[inline(always)]
    pub fn times_minus_i(self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i| (self.im[i], self.re[i].negated()),
        )
    }

    /// Returns the complex conjugates.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i| (self.re[i], self.im[i].negated()),
        )
    }
}
