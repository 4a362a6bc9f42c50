//! Vector registers for matrix tiles: load, store, broadcast, multiply-add.
//!
//! Every method of [`Lanes`] is `unsafe` because it needs the type's instruction set, and pointers. A tile is generic over
//! it; other code gets [`Registers`], whose methods are safe. [`Plain`] needs no instruction set.

#[cfg(target_arch = "aarch64")]
use super::neon;
#[cfg(target_arch = "x86_64")]
use super::x86;
use super::{Isa, Level};
use crate::compute::machine::array;
use std::marker::PhantomData;

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

/// Defines a register by its intrinsics for broadcast, load, store, addition and `sum + x * y`, whose only obligation is the
/// instruction set.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
macro_rules! register {
    ($name:ident, $scalar:ty, $count:literal, $raw:ty, $doc:literal,
        $splat:ident $load:ident $store:ident $add:ident,
        ($sum:ident, $x:ident, $y:ident) => $mul_add:expr $(; $side:literal $transpose:ident)?) => {
        #[doc = $doc]
        #[derive(Clone, Copy)]
        pub struct $name($raw);

        // SAFETY: an unaligned load or store of one register accesses `COUNT` scalars.
        unsafe impl Lanes for $name {
            type Scalar = $scalar;
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn splat(x: $scalar) -> Self {
                // SAFETY: the caller guarantees the instruction set.
                Self(unsafe { $splat(x) })
            }

            #[inline(always)]
            unsafe fn load(from: *const $scalar) -> Self {
                // SAFETY: the caller guarantees the instruction set, and that `COUNT` scalars may be read.
                Self(unsafe { $load(from) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $scalar) {
                // SAFETY: the caller guarantees the instruction set, and that `COUNT` scalars may be written.
                unsafe { $store(to, self.0) }
            }

            #[inline(always)]
            unsafe fn mul_add(self, x: Self, y: Self) -> Self {
                let ($sum, $x, $y) = (self.0, x.0, y.0);
                // SAFETY: the caller guarantees the instruction set.
                Self(unsafe { $mul_add })
            }

            #[inline(always)]
            unsafe fn add(self, x: Self) -> Self {
                // SAFETY: the caller guarantees the instruction set.
                Self(unsafe { $add(self.0, x.0) })
            }

            $(
                const SIDE: usize = $side;

                #[inline(always)]
                unsafe fn transpose(
                    from: *const $scalar,
                    from_row: usize,
                    to: *mut $scalar,
                    to_row: usize,
                ) {
                    // SAFETY: the caller guarantees the instruction set, and access to both squares.
                    unsafe { $transpose(from, from_row, to, to_row) }
                }
            )?
        }
    };
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
                Self(array::from_fn(
                    #[inline(always)]
                    |i| self.0[i] + x.0[i] * y.0[i],
                ))
            }

            #[inline(always)]
            unsafe fn add(self, x: Self) -> Self {
                Self(array::from_fn(
                    #[inline(always)]
                    |i| self.0[i] + x.0[i],
                ))
            }
        }
    };
}

plain!(f32, 4);
plain!(f64, 2);

/// Proof that the machine has the instruction set of `V`, whose registers it reads and writes safely.
#[derive(Clone, Copy)]
pub struct Registers<V>(PhantomData<V>);

impl<V: Lanes> Registers<V> {
    /// Returns `N` registers with `x` in all lanes.
    #[inline(always)]
    pub fn splat<const N: usize>(self, x: V::Scalar) -> [V; N] {
        // SAFETY: a value of this type proves the instruction set.
        unsafe { [V::splat(x); N] }
    }

    /// Reads `N` registers from the start of a slice.
    ///
    /// # Panics
    /// Panics if the slice is shorter.
    #[inline(always)]
    pub fn load<const N: usize>(self, from: &[V::Scalar]) -> [V; N] {
        let from = from[..N * V::COUNT].as_ptr();
        // SAFETY: a value of this type proves the instruction set, and the slice has N registers.
        array::from_fn(
            #[inline(always)]
            |i| unsafe { V::load(from.add(i * V::COUNT)) },
        )
    }

    /// Writes `N` registers to the start of a slice.
    ///
    /// # Panics
    /// Panics if the slice is shorter.
    #[inline(always)]
    pub fn store<const N: usize>(self, registers: &[V; N], to: &mut [V::Scalar]) {
        let to = to[..N * V::COUNT].as_mut_ptr();
        for (i, register) in registers.iter().enumerate() {
            // SAFETY: as in `load`.
            unsafe { register.store(to.add(i * V::COUNT)) };
        }
    }

    /// Adds the products of two operands, as [`Lanes::mul_add`].
    #[inline(always)]
    pub fn mul_add<const N: usize>(self, sums: &mut [V; N], x: &[V; N], y: &[V; N]) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            // SAFETY: a value of this type proves the instruction set.
            *sum = unsafe { sum.mul_add(*x, *y) };
        }
    }
}

/// The most lanes that a register has.
pub const MAX_LANES: usize = 16;

/// Code that is generic over registers. [`Vector::with_lanes`] compiles it for each instruction set.
pub trait LanesBody<T> {
    /// The type of the code's result.
    type Output;

    /// Runs the code. Write implementations as `#[inline(always)]`: code that is not inlined is compiled for the baseline.
    fn run<V: Lanes<Scalar = T>>(self, registers: Registers<V>) -> Self::Output;
}

/// A type with registers for each instruction set.
pub trait Vector: Copy {
    /// Runs `body` with the registers of an instruction set.
    fn with_lanes<B: LanesBody<Self>>(isa: Isa, body: B) -> B::Output;
}

macro_rules! vectors {
    ($($scalar:ty: $plain:ty, $neon:ident $avx2:ident $avx512:ident;)*) => {$(
        impl Vector for $scalar {
            #[inline]
            fn with_lanes<B: LanesBody<Self>>(isa: Isa, body: B) -> B::Output {
                match isa.level() {
                    // SAFETY: an `Isa` of this level exists only if the machine has the instruction set.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => unsafe {
                        x86::avx512::run(
                            #[inline(always)]
                            || body.run(Registers::<x86::$avx512>(PhantomData)),
                        )
                    },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => unsafe {
                        x86::avx2::run(
                            #[inline(always)]
                            || body.run(Registers::<x86::$avx2>(PhantomData)),
                        )
                    },
                    #[cfg(target_arch = "aarch64")]
                    Level::Neon => body.run(Registers::<neon::$neon>(PhantomData)),
                    // `Plain` needs no instruction set.
                    _ => body.run(Registers::<$plain>(PhantomData)),
                }
            }
        }
    )*};
}

vectors! {
    f32: Plain<f32, 4>, F32x4 F32x8 F32x16;
    f64: Plain<f64, 2>, F64x2 F64x4 F64x8;
}
