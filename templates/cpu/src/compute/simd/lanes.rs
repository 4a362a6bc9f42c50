//! A register of numbers, as matrix tiles need it: load, store, broadcast, multiply-add.
//!
//! Everything is `unsafe` for one reason: the caller must run where the type's instruction set exists. A tile is generic over
//! [`Lanes`]; [`Plain`] is the one that any machine has.

/// A vector register of `COUNT` scalars.
///
/// # Safety
/// `load` and `store` touch `COUNT` scalars from the pointer on and no more.
pub unsafe trait Lanes: Copy {
    /// What one lane holds.
    type Scalar: Copy + Default;
    /// How many lanes.
    const COUNT: usize;

    /// All lanes equal to `x`.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn splat(x: Self::Scalar) -> Self;

    /// Reads `COUNT` scalars, of any alignment.
    ///
    /// # Safety
    /// The machine has the instruction set, and the scalars may be read.
    unsafe fn load(from: *const Self::Scalar) -> Self;

    /// Writes `COUNT` scalars, of any alignment.
    ///
    /// # Safety
    /// The machine has the instruction set, and the scalars may be written.
    unsafe fn store(self, to: *mut Self::Scalar);

    /// `self + x * y`, fused where the machine can.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn mul_add(self, x: Self, y: Self) -> Self;

    /// `self + x`.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn add(self, x: Self) -> Self;

    /// The side of the squares that [`Lanes::transpose`] turns.
    const SIDE: usize = Self::COUNT;

    /// Writes a square with rows and columns exchanged; `from_row` and `to_row` count scalars from one row to the next.
    ///
    /// # Safety
    /// The machine has the instruction set; `SIDE` rows of `SIDE` scalars may be read and written.
    #[inline(always)]
    unsafe fn transpose(
        from: *const Self::Scalar,
        from_row: usize,
        to: *mut Self::Scalar,
        to_row: usize,
    ) {
        for i in 0..Self::SIDE {
            for j in 0..Self::SIDE {
                // SAFETY: both are in the square.
                unsafe { *to.add(j * to_row + i) = *from.add(i * from_row + j) };
            }
        }
    }
}

/// `N` scalars that the compiler keeps in whatever registers the target has.
#[derive(Clone, Copy)]
pub struct Plain<T, const N: usize>([T; N]);

macro_rules! plain {
    ($scalar:ty, $count:literal) => {
        // SAFETY: both go through a pointer to an array of COUNT scalars.
        unsafe impl Lanes for Plain<$scalar, $count> {
            type Scalar = $scalar;
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn splat(x: $scalar) -> Self {
                Self([x; $count])
            }

            #[inline(always)]
            unsafe fn load(from: *const $scalar) -> Self {
                // SAFETY: the caller lets us read COUNT scalars.
                Self(unsafe { from.cast::<[$scalar; $count]>().read_unaligned() })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $scalar) {
                // SAFETY: the caller lets us write COUNT scalars.
                unsafe { to.cast::<[$scalar; $count]>().write_unaligned(self.0) }
            }

            #[inline(always)]
            unsafe fn mul_add(self, x: Self, y: Self) -> Self {
                Self(std::array::from_fn(
                    #[inline(always)]
                    |i| self.0[i] + x.0[i] * y.0[i],
                ))
            }

            #[inline(always)]
            unsafe fn add(self, x: Self) -> Self {
                Self(std::array::from_fn(
                    #[inline(always)]
                    |i| self.0[i] + x.0[i],
                ))
            }
        }
    };
}

plain!(f32, 4);
plain!(f64, 2);
