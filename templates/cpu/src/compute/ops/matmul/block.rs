//! The loops around the tiles: a grid of tasks for the cores, blocks for the caches.
//!
//! Each task computes a rectangle of the result with its own packed copies, which needs no synchronization. Sums are
//! split only along `k`, at indices that depend on `k` only.

use super::Product;
use super::finish::{Finish, Part};
use super::pack::{Lines, Panel};
use super::tile::{Rows, Strip, Tile, Tiled};
use crate::compute::machine::parallel;
use crate::compute::machine::workspace::with_buffer;

/// The largest number of terms that are summed in registers.
///
/// With half as many terms the result is read and written twice as often. The tile's columns of the right operand
/// come from the second cache either way. Fewer terms, of which they fit in the first cache, are slower too.
pub(super) const DEPTH: usize = 512;
/// The number of bytes of the left operand in a block, which fits in the second cache beside a strip of the right one.
const LEFT_BYTES: usize = 512 << 10;
/// The number of bytes of the right operand that are packed at a time.
const RIGHT_BYTES: usize = 2 << 20;
/// The minimal number of multiply-adds in a task.
const GRAIN: usize = 256 * 1024;

/// Pointers and strides of both operands, as the tiles index them, and of the result.
#[derive(Clone, Copy)]
struct Operands<'a, T> {
    a: Lines<T>,
    b: Lines<T>,
    c: *mut T,
    k: usize,
    n: usize,
    finish: Option<&'a Finish<'a, T>>,
}

// SAFETY: tasks only read `a` and `b`, and write disjoint rectangles of `c`. `Finish` is `Sync`.
unsafe impl<T: Sync> Sync for Operands<'_, T> {}

/// A range of rows and of columns of the result.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Rectangle {
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
}

/// Computes the product with these tiles. `m`, `k` and `n` are above 0.
///
/// # Panics
/// Panics if a slice has another length than the product.
pub(super) fn product<T: Tiled>(
    tile: &Tile<T>,
    product: Product,
    a: &[T],
    b: &[T],
    c: &mut [T],
    finish: Option<&Finish<'_, T>>,
) {
    // The operands may come from a function of `Factor`, which is a safe trait.
    product.check(a, b, c);
    let Product {
        m,
        k,
        n,
        transpose_a,
        transpose_b,
    } = product;
    let (across, down) = if transpose_a { (1, m) } else { (k, 1) };
    let left = Lines {
        start: a.as_ptr(),
        across,
        down,
    };
    let (across, down) = if transpose_b { (k, 1) } else { (1, n) };
    let right = Lines {
        start: b.as_ptr(),
        across,
        down,
    };
    let operands = Operands {
        a: left,
        b: right,
        c: c.as_mut_ptr(),
        k,
        n,
        finish,
    };
    let tasks = match parallel::available_threads() {
        1 => 1,
        threads => (m * n / GRAIN.div_ceil(k)).clamp(1, threads * 2),
    };
    let grid = Grid::new(
        m,
        n,
        if tasks < 2 {
            1
        } else {
            tasks.next_multiple_of(2)
        },
        tile.rows,
        tile.lanes,
    );
    let operands = &operands;
    parallel::run(grid.down * grid.across, |index| {
        // SAFETY: the slices have the lengths of the product, and rectangles of different indices are disjoint.
        unsafe { compute_rectangle(tile, operands, &grid.rectangle(index)) };
    });
}

/// The division of the result into rectangles, one for each task.
struct Grid {
    m: usize,
    n: usize,
    rows: usize,
    columns: usize,
    down: usize,
    across: usize,
}

impl Grid {
    /// Creates a grid of about `tasks` rectangles, as equal and as square as whole tiles allow.
    fn new(m: usize, n: usize, tasks: usize, row: usize, column: usize) -> Self {
        let cut = |down: usize| {
            let rows = m.div_ceil(down).next_multiple_of(row);
            let columns = n.div_ceil(tasks.div_ceil(down)).next_multiple_of(column);
            Self {
                m,
                n,
                rows,
                columns,
                down: m.div_ceil(rows),
                across: n.div_ceil(columns),
            }
        };
        let cost = |grid: &Self| grid.rows * grid.columns + 8 * (grid.rows + grid.columns);
        (1..=tasks)
            .map(cut)
            .min_by_key(cost)
            .unwrap_or_else(|| cut(1))
    }

    fn rectangle(&self, index: usize) -> Rectangle {
        let (row, column) = (
            index / self.across * self.rows,
            index % self.across * self.columns,
        );
        Rectangle {
            rows: row..(row + self.rows).min(self.m),
            columns: column..(column + self.columns).min(self.n),
        }
    }
}

/// Splits `0..len` into ranges of at most `max` elements, which is a multiple of `unit`. Each but the last is a multiple of
/// `unit`, and they differ by at most one.
pub(super) fn split_evenly(
    len: usize,
    max: usize,
    unit: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let units = len.div_ceil(unit);
    let parts = units.div_ceil(max / unit).max(1);
    let start = move |part: usize| {
        let longer = part.min(units % parts);
        len.min((units / parts * part + longer) * unit)
    };
    (0..parts).map(move |part| (start(part), start(part + 1) - start(part)))
}

/// Returns the number of rows of the left operand in a block.
const fn block_rows<T>() -> usize {
    LEFT_BYTES / size_of::<T>() / DEPTH
}

/// Computes one rectangle.
///
/// # Safety
/// - The pointers of `operands` are valid for the product's matrices.
/// - No other thread accesses this rectangle of `c`.
unsafe fn compute_rectangle<T: Tiled>(
    tile: &Tile<T>,
    operands: &Operands<'_, T>,
    area: &Rectangle,
) {
    let wide = (RIGHT_BYTES / size_of::<T>() / DEPTH).next_multiple_of(tile.columns());
    let (m, n) = (area.rows.len(), area.columns.len());
    let depth = DEPTH.min(operands.k);
    let right = depth * n.min(wide).next_multiple_of(tile.lanes);
    let left = depth * m.min(block_rows::<T>()).next_multiple_of(tile.rows);
    with_buffer::<T, _>(left + right, |buffer| {
        let (left, right) = buffer.split_at_mut(left);
        for (j, columns) in split_evenly(n, wide, tile.columns()) {
            for (p, depth) in split_evenly(operands.k, DEPTH, 1) {
                let block = Block {
                    tile,
                    operands,
                    p,
                    depth,
                    columns: (area.columns.start + j, columns),
                    all_rows: m,
                };
                // SAFETY: the block is within the rectangle.
                unsafe { block.run(&area.rows, left, right) };
            }
        }
    });
}

/// A block of the right operand: a range of `k` and a range of columns.
struct Block<'a, T> {
    tile: &'a Tile<T>,
    operands: &'a Operands<'a, T>,
    p: usize,
    depth: usize,
    columns: (usize, usize),
    all_rows: usize,
}

impl<T: Tiled> Block<'_, T> {
    /// # Safety
    /// The obligations of [`compute_rectangle`].
    unsafe fn run(&self, rows: &std::ops::Range<usize>, left: &mut [T], right: &mut [T]) {
        // SAFETY: the block's rows and columns are within `b`.
        unsafe { self.pack_right(right) };
        for (i, rows_here) in split_evenly(rows.len(), block_rows::<T>(), self.tile.rows) {
            // SAFETY: the rows are within `a` and `c`, and the terms within `a`.
            unsafe { self.rows(rows.start + i, rows_here, left, right) };
        }
    }

    /// Returns the strips of the columns, as equal as whole registers allow: the first column within the block and the
    /// number of columns.
    fn strips(&self) -> impl Iterator<Item = (usize, usize)> {
        split_evenly(self.columns.1, self.tile.columns(), self.tile.lanes)
    }

    /// Returns true if a strip is packed: it is read often, or is not stored as rows of whole registers.
    fn is_packed(&self, columns: usize) -> bool {
        self.operands.b.across != 1
            || self.all_rows > 64
            || !columns.is_multiple_of(self.tile.lanes)
    }

    /// # Safety
    /// - The block is within `b`.
    unsafe fn pack_right(&self, right: &mut [T]) {
        let b = self.operands.b;
        for (j, columns) in self
            .strips()
            .filter(|(_, columns)| self.is_packed(*columns))
        {
            // SAFETY: the columns and rows are within `b`.
            unsafe {
                let start = b
                    .start
                    .add((self.columns.0 + j) * b.across + self.p * b.down);
                let width = columns.next_multiple_of(self.tile.lanes);
                let panel = Panel {
                    from: Lines { start, ..b },
                    count: columns,
                    k: self.depth,
                    width,
                };
                self.tile.pack(&mut right[j * self.depth..], &panel);
            }
        }
    }

    /// # Safety
    /// - The rows are within `a` and `c`.
    unsafe fn rows(&self, first: usize, rows: usize, left: &mut [T], right: &[T]) {
        let Operands { a, b, c, n, .. } = *self.operands;
        // SAFETY: row `first` and term `p` are within `a`.
        let start = unsafe { a.start.add(first * a.across + self.p * a.down) };
        let height = self.tile.rows;
        let mut from = (start, height * a.across, a.across, a.down);
        if self.columns.1 > 4 * self.tile.columns() {
            for (index, row) in (0..rows).step_by(height).enumerate() {
                let to = &mut left[index * height * self.depth..];
                let count = height.min(rows - row);
                // SAFETY: the rows are within `a`.
                unsafe {
                    let from = Lines {
                        start: start.add(row * a.across),
                        ..a
                    };
                    self.tile.pack(
                        to,
                        &Panel {
                            from,
                            count,
                            k: self.depth,
                            width: height,
                        },
                    );
                }
            }
            from = (left.as_ptr(), height * self.depth, 1, height);
        }
        for (j, columns) in self.strips() {
            // SAFETY: the strip's operands are packed copies, or rows and columns within the matrices; only this task
            // accesses the rectangle.
            unsafe {
                let (b, b_step) = match self.is_packed(columns) {
                    true => (
                        right[j * self.depth..].as_ptr(),
                        columns.next_multiple_of(self.tile.lanes),
                    ),
                    false => (b.start.add(self.columns.0 + j + self.p * b.down), b.down),
                };
                let (a, panel, row, a_step) = from;
                let c = c.add(first * n + self.columns.0 + j);
                self.tile.run(&Strip {
                    a,
                    a_rows: Rows::Regular { panel, row },
                    a_step,
                    runs: &[0],
                    run: self.depth,
                    b,
                    b_step,
                    c,
                    c_row: n,
                    rows,
                    columns,
                    add: self.p > 0,
                });
            }
        }
        // SAFETY: the caller guarantees the rows, of which only this task accesses the rectangle.
        unsafe { self.finish(first, rows) };
    }

    /// Applies the function of finished elements to the block's columns of these rows, after the last terms of their sums.
    ///
    /// # Safety
    /// - The rows are within `c`, and no other task accesses them.
    unsafe fn finish(&self, first: usize, rows: usize) {
        let Operands {
            c, k, n, finish, ..
        } = *self.operands;
        let Some(finish) = finish.filter(|_| self.p + self.depth == k) else {
            return;
        };
        let (column, count) = self.columns;
        // SAFETY: the caller guarantees the rows; the block's columns are within the `n` columns of `c`.
        let start = unsafe { c.add(first * n + column) };
        // SAFETY: as above.
        finish(unsafe { Part::new(start, n, first..first + rows, column..column + count) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::machine::simd::Isa;

    #[test]
    #[should_panic(expected = "a is not m x k")]
    fn rejects_operand_of_another_length() {
        let shape = Product::new([64, 64], [64, 64], false, false).unwrap();
        let (a, b, mut c) = ([0.0; 8], vec![0.0; 64 * 64], vec![0.0; 64 * 64]);
        product(&f32::tile(Isa::current()), shape, &a, &b, &mut c, None);
    }

    #[test]
    fn ranges_are_equal_up_to_one_unit_and_cover_all() {
        let split = |len, max, unit| split_evenly(len, max, unit).collect::<Vec<_>>();
        let strips = [(0, 48), (48, 48), (96, 48), (144, 48), (192, 32), (224, 32)];
        assert_eq!(split(256, 48, 16), strips);
        assert_eq!(split(50, 48, 16), [(0, 32), (32, 18)]);
        assert_eq!(split(3, 48, 16), [(0, 3)]);
        assert_eq!(split(7, 3, 1), [(0, 3), (3, 2), (5, 2)]);
    }
}
