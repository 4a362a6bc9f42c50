//! Vector registers for matrix tiles: load, store, broadcast, multiply-add.
//!
//! Every method is `unsafe` because it needs the type's instruction set. A tile is generic over [`Lanes`]; [`Plain`]
//! needs no instruction set.

/// A vector register of `COUNT` scalars.
///
/// # Safety
/// - `load` and `store` access exactly `COUNT` scalars from the pointer on.
pub unsafe trait Lanes: Copy {
    /// The type of one lane.
    type Scalar: Copy + Default;
    /// The number of lanes.
    const COUNT: usize;

    /// Returns a register with `x` in all lanes.
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

    /// Returns `self + x * y`, fused if the machine has such an instruction.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn mul_add(self, x: Self, y: Self) -> Self;

    /// Returns `self + x`.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn add(self, x: Self) -> Self;

    /// The number of rows and columns that [`Lanes::transpose`] transposes.
    const SIDE: usize = Self::COUNT;

    /// Transposes a square; `from_row` and `to_row` are the strides of its rows in scalars.
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
                // SAFETY: both elements are in the squares that the caller may access.
                unsafe { *to.add(j * to_row + i) = *from.add(i * from_row + j) };
            }
        }
    }
}

/// `N` scalars, which the compiler puts into the target's registers.
#[derive(Clone, Copy)]
pub struct Plain<T, const N: usize>([T; N]);

macro_rules! plain {
    ($scalar:ty, $count:literal) => {
        // SAFETY: `load` and `store` access an array of `COUNT` scalars.
        unsafe impl Lanes for Plain<$scalar, $count> {
            type Scalar = $scalar;
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn splat(x: $scalar) -> Self {
                Self([x; $count])
            }

            #[inline(always)]
            unsafe fn load(from: *const $scalar) -> Self {
                // SAFETY: the caller guarantees that `COUNT` scalars may be read.
                Self(unsafe { from.cast::<[$scalar; $count]>().read_unaligned() })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $scalar) {
                // SAFETY: the caller guarantees that `COUNT` scalars may be written.
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
