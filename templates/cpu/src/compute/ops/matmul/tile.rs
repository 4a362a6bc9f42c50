//! The register tile: a few rows by up to three registers of columns, summed over `k` without leaving the registers.
//!
//! One function is generic over [`Lanes`]; below it are its instances for each instruction set. Operands are read
//! through strides, so the same tile works on packed panels and on the matrices as they are stored.
//!
//! A tile has one index for all rows of its left operand, and hides from the compiler how it changes
//! (`simd::opaque`). Otherwise each row has a pointer of its own, and the integer additions
//! of a term take ports of the multiply-adds.

use super::pack::{self, Panel};
use crate::compute::machine::simd::{Isa, Lanes, Level, MAX_LANES, Plain, Vector, opaque};
use crate::compute::scalar::arith::Float;

/// The number of registers of columns in a full tile.
const COLUMNS: usize = 3;

/// A float type with tiles for matrix products.
pub trait Tiled: Float + Vector {
    /// Returns the tile for an instruction set.
    fn tile(isa: Isa) -> Tile<Self>;
}

/// The tile of one instruction set.
#[derive(Clone, Copy)]
pub struct Tile<T> {
    /// The number of rows of a full tile.
    pub(super) rows: usize,
    /// The number of columns in one register.
    pub(super) lanes: usize,
    /// Computes a strip. Needs the instruction set, and a [`Strip`] with valid pointers.
    run: unsafe fn(&Strip<'_, T>),
    /// Packs a panel. Needs the instruction set, and a [`Panel`] with a valid pointer.
    pack: unsafe fn(&mut [T], &Panel<T>),
}

impl<T> Tile<T> {
    /// Returns the number of columns of a full tile.
    pub(super) const fn columns(&self) -> usize {
        COLUMNS * self.lanes
    }

    /// Computes `c = a * b`, or `c += a * b`, for one strip.
    ///
    /// # Safety
    /// - The strip's pointers are valid for its elements.
    /// - No other thread accesses the strip of `c`.
    #[inline]
    pub(super) unsafe fn run(&self, strip: &Strip<'_, T>) {
        debug_assert!(strip.columns >= 1 && strip.columns <= self.columns());
        // SAFETY: a `Tile` is created from an `Isa`, so the machine has the instruction set; the caller guarantees the
        // rest.
        unsafe { (self.run)(strip) }
    }

    /// Writes a panel in the order in which the tile reads it.
    ///
    /// # Safety
    /// - The panel's pointer is valid for its elements.
    #[inline]
    pub(super) unsafe fn pack(&self, to: &mut [T], panel: &Panel<T>) {
        // SAFETY: as in `run`.
        unsafe { (self.pack)(to, panel) }
    }
}

/// The offsets of the rows of a strip's left operand, in elements.
#[derive(Clone, Copy)]
pub(super) enum Rows<'a> {
    /// Row `i` begins at `i / rows * panel + i % rows * row`, with the tile's `rows`.
    Regular { panel: usize, row: usize },
    /// Row `i` begins at the offset `i`.
    At(&'a [usize]),
}

impl Rows<'_> {
    #[inline(always)]
    fn offset(&self, row: usize, tile_rows: usize) -> usize {
        match self {
            Self::Regular { panel, row: step } => row / tile_rows * panel + row % tile_rows * step,
            Self::At(offsets) => offsets[row],
        }
    }
}

/// A strip of the result: any number of rows by the columns of one tile.
///
/// The terms are in runs: term `p` of run `r` of row `i` of the left operand is at `a[i's offset + runs[r] + p * a_step]`.
/// The right operand has the terms of all runs one after the other: each row starts `b_step` after the one before, readable
/// up to a whole number of registers. Row `i` of the result starts at `c[i * c_row]`.
pub(super) struct Strip<'a, T> {
    pub a: *const T,
    pub a_rows: Rows<'a>,
    pub a_step: usize,
    pub runs: &'a [usize],
    /// The number of terms in a run.
    pub run: usize,
    pub b: *const T,
    pub b_step: usize,
    pub c: *mut T,
    pub c_row: usize,
    pub rows: usize,
    pub columns: usize,
    /// True to add to `c` instead of overwriting it.
    pub add: bool,
}

/// # Safety
/// - The obligations of [`Tile::run`].
/// - The function that this is inlined into has the instruction set.
#[inline(always)]
unsafe fn strip<V: Lanes<Scalar: Tiled>, const ROWS: usize>(strip: &Strip<'_, V::Scalar>) {
    // SAFETY: the caller's obligations are the same.
    unsafe {
        match strip.columns.div_ceil(V::COUNT) {
            1 => panels::<V, ROWS, 1>(strip),
            2 => panels::<V, ROWS, 2>(strip),
            _ => panels::<V, ROWS, COLUMNS>(strip),
        }
    }
}

/// # Safety
/// - The obligations of [`strip`].
#[inline(always)]
unsafe fn panels<V: Lanes<Scalar: Tiled>, const ROWS: usize, const N: usize>(
    strip: &Strip<'_, V::Scalar>,
) {
    let mut row = 0;
    while row < strip.rows {
        let offset = |i: usize| strip.a_rows.offset(row + i, ROWS);
        // SAFETY: the strip has at least as many rows left as the arm computes, and its pointers are valid.
        row += unsafe {
            let c = strip.c.add(row * strip.c_row);
            match strip.rows - row {
                left if left >= ROWS => tile::<V, ROWS, N>(strip, offset, c),
                4.. if ROWS > 4 => tile::<V, 4, N>(strip, offset, c),
                2.. => tile::<V, 2, N>(strip, offset, c),
                _ => tile::<V, 1, N>(strip, offset, c),
            }
        };
    }
}

/// Repeats the body for each row of the largest tile, unrolled in the source: the compiler does not unroll nested loops
/// of this size, and then keeps the sums in memory.
macro_rules! each_row {
    ($rows:ident, $i:ident => $body:expr) => {
        each_row!($rows, $i => $body; 0 1 2 3 4 5 6 7)
    };
    ($rows:ident, $i:ident => $body:expr; $($row:literal)*) => {$(
        if $row < $rows {
            let $i = $row;
            $body
        }
    )*};
}

/// Computes `M` rows, which begin at these offsets of the left operand, and returns `M`.
///
/// # Safety
/// - The obligations of [`strip`], with `M` rows at the offsets and from `c` on.
#[inline(always)]
unsafe fn tile<V: Lanes<Scalar: Tiled>, const M: usize, const N: usize>(
    strip: &Strip<'_, V::Scalar>,
    offset: impl Fn(usize) -> usize,
    c: *mut V::Scalar,
) -> usize {
    let mut a = [strip.a; M];
    each_row!(M, i => a[i] = strip.a.wrapping_add(offset(i)));
    // SAFETY: reads the terms of rows below M, and columns below N registers, which the strip's pointers hold.
    let sums = unsafe { sums::<V, M, N>(strip, &a) };
    let full = strip.columns == N * V::COUNT;
    // SAFETY: writes M rows of the strip's columns; `edge` holds as many rows of whole registers.
    unsafe {
        if full && !strip.add {
            each_row!(M, i => store_row(&sums[i], c.add(i * strip.c_row)));
        } else if full {
            each_row!(M, i => store_row(&add_row(&sums[i], c.add(i * strip.c_row)), c.add(i * strip.c_row)));
        } else {
            let mut edge = [[V::Scalar::default(); COLUMNS * MAX_LANES]; M];
            each_row!(M, i => store_row(&sums[i], edge[i].as_mut_ptr()));
            edges(strip, &edge, c);
        }
    }
    M
}

/// # Safety
/// - The obligations of [`tile`].
#[inline(always)]
unsafe fn sums<V: Lanes<Scalar: Tiled>, const M: usize, const N: usize>(
    strip: &Strip<'_, V::Scalar>,
    a: &[*const V::Scalar; M],
) -> [[V; N]; M] {
    let (a_step, b_step) = (strip.a_step, strip.b_step);
    let mut b = strip.b;
    // SAFETY: the caller guarantees the pointers, of which only those of terms are read.
    unsafe {
        let mut sums = [[V::splat(V::Scalar::default()); N]; M];
        for run in strip.runs {
            let mut at = *run;
            for _ in 0..strip.run / 2 {
                term(&mut sums, a, at, b);
                term(&mut sums, a, at + a_step, b.wrapping_add(b_step));
                // If the compiler knows how the index changes, it gives each row a pointer of its own to add to, and
                // integer additions take the ports of multiply-adds.
                at = opaque(at + 2 * a_step);
                b = b.wrapping_add(2 * b_step);
            }
            if !strip.run.is_multiple_of(2) {
                term(&mut sums, a, at, b);
                b = b.wrapping_add(b_step);
            }
        }
        sums
    }
}

/// Adds the products of a term of the left operand's `M` rows with a row of the right operand.
///
/// # Safety
/// - `a[i][at]` may be read for each row, and `N` registers from `b` on.
/// - The function that this is inlined into has the instruction set.
#[inline(always)]
unsafe fn term<V: Lanes, const M: usize, const N: usize>(
    sums: &mut [[V; N]; M],
    a: &[*const V::Scalar; M],
    at: usize,
    b: *const V::Scalar,
) {
    // SAFETY: the caller guarantees the instruction set and the pointers.
    unsafe {
        let mut right = [V::splat(V::Scalar::default()); N];
        for (j, right) in right.iter_mut().enumerate() {
            *right = V::load(b.add(j * V::COUNT));
        }
        each_row!(M, i => {
            let left = V::splat(*a[i].add(at));
            for (sum, right) in sums[i].iter_mut().zip(right) {
                *sum = sum.mul_add(left, right);
            }
        });
    }
}

/// # Safety
/// - `N` registers may be read from `from` on.
#[inline(always)]
unsafe fn add_row<V: Lanes<Scalar: Tiled>, const N: usize>(
    row: &[V; N],
    from: *const V::Scalar,
) -> [V; N] {
    let mut sums = *row;
    for (j, sum) in sums.iter_mut().enumerate() {
        // SAFETY: register j is one of the N.
        *sum = unsafe { V::load(from.add(j * V::COUNT)).add(*sum) };
    }
    sums
}

/// # Safety
/// - `N` registers may be written from `to` on.
#[inline(always)]
unsafe fn store_row<V: Lanes<Scalar: Tiled>, const N: usize>(row: &[V; N], to: *mut V::Scalar) {
    for (j, sum) in row.iter().enumerate() {
        // SAFETY: register j is one of the N.
        unsafe { sum.store(to.add(j * V::COUNT)) };
    }
}

/// Writes rows without the lanes outside of the strip's columns.
///
/// # Safety
/// - `M` rows of the strip's columns may be written from `c` on.
#[inline(always)]
unsafe fn edges<T: Tiled, const M: usize>(
    strip: &Strip<'_, T>,
    edge: &[[T; COLUMNS * MAX_LANES]; M],
    c: *mut T,
) {
    for (i, row) in edge.iter().enumerate() {
        // SAFETY: row i is one of the M.
        let c = unsafe { std::slice::from_raw_parts_mut(c.add(i * strip.c_row), strip.columns) };
        c.iter_mut().zip(row).for_each(
            #[inline(always)]
            |(c, sum)| *c = if strip.add { c.plus(*sum) } else { *sum },
        );
    }
}

macro_rules! tiles {
    ($scalar:ty: $($(#[$gate:meta])* $level:ident $rows:literal $register:ty $(, $features:literal)?;)*) => {
        impl Tiled for $scalar {
            fn tile(isa: Isa) -> Tile<Self> {
                match isa.level() {
                    $($(#[$gate])* Level::$level => {
                        /// # Safety
                        /// - The obligations of [`strip`].
                        $(#[target_feature(enable = $features)])?
                        unsafe fn run(whole: &Strip<'_, $scalar>) {
                            // SAFETY: the caller's obligations are the same; this function has the instruction set.
                            unsafe { strip::<$register, $rows>(whole) }
                        }
                        /// # Safety
                        /// - The obligations of [`Tile::pack`].
                        /// - The machine has the instruction set.
                        $(#[target_feature(enable = $features)])?
                        unsafe fn pack(to: &mut [$scalar], panel: &Panel<$scalar>) {
                            // SAFETY: the caller's obligations are the same; this function has the instruction set.
                            unsafe { pack::pack::<$register>(to, panel) }
                        }
                        Tile { rows: $rows, lanes: <$register>::COUNT, run, pack }
                    })*
                    #[allow(unreachable_patterns)]
                    _ => unreachable!("no Isa of a level that this target lacks"),
                }
            }
        }
    };
}

tiles! { f32:
    Baseline 4 Plain<f32, 4>;
    #[cfg(target_arch = "aarch64")] Neon 8 crate::compute::machine::simd::F32x4;
    #[cfg(target_arch = "x86_64")] Avx2 4 crate::compute::machine::simd::F32x8, "avx2,fma";
    #[cfg(target_arch = "x86_64")] Avx512 8 crate::compute::machine::simd::F32x16, "avx2,fma,avx512f,avx512vl";
}

tiles! { f64:
    Baseline 4 Plain<f64, 2>;
    #[cfg(target_arch = "aarch64")] Neon 8 crate::compute::machine::simd::F64x2;
    #[cfg(target_arch = "x86_64")] Avx2 4 crate::compute::machine::simd::F64x4, "avx2,fma";
    #[cfg(target_arch = "x86_64")] Avx512 8 crate::compute::machine::simd::F64x8, "avx2,fma,avx512f,avx512vl";
}

/// Returns the tile of `f32` whose elements in operands are pairs of bfloat16, or `None` if the machine has no AVX512-BF16
/// or another instruction set is wanted.
#[cfg(target_arch = "x86_64")]
pub(super) fn pairs(isa: Isa) -> Option<Tile<f32>> {
    use crate::compute::machine::simd::PairsX16;
    /// # Safety
    /// - The obligations of [`strip`].
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bf16")]
    unsafe fn run(whole: &Strip<'_, f32>) {
        // SAFETY: the caller's obligations are the same; this function has the instruction set.
        unsafe { strip::<PairsX16, 8>(whole) }
    }
    (isa.level() == Level::Avx512 && PairsX16::is_available()).then(|| Tile {
        run,
        ..f32::tile(isa)
    })
}
