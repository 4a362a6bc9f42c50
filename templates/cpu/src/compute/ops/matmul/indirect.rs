//! Products whose left operand is not stored as a matrix: its rows and terms are at offsets, as the windows of a
//! convolution.
//!
//! The functions are safe: every offset is checked before a tile reads through it.
//!
//! The alternative, to write each window as a row of a matrix, takes up to nine times the input's memory traffic.

use super::block::{DEPTH, split_evenly};
use super::pack::{Lines, Panel};
use super::tile::{Rows, Strip, Tile, Tiled};
use crate::compute::machine::parallel;
use crate::compute::machine::workspace::Buffer;
use sp_plugin::allocation;

/// A left operand. Its terms are in runs: term `p` of run `r` of row `i` is `data[rows[i] + runs[r] + p * step]`.
#[derive(Clone, Copy)]
pub struct Indirect<'a, T> {
    /// The elements.
    pub data: &'a [T],
    /// The offset of each row.
    pub rows: &'a [usize],
    /// The offset of each run.
    pub runs: &'a [usize],
    /// The number of terms in each run.
    pub run: usize,
    /// The distance of two terms of a run.
    pub step: usize,
}

/// Rows of a right operand, as they are stored: `data[p * step + j]` is column `j` of row `p`, or `data[j * step + p]` if
/// the matrix is transposed.
#[derive(Clone, Copy)]
pub struct Source<'a, T> {
    /// The elements.
    pub data: &'a [T],
    /// The number of rows.
    pub rows: usize,
    /// The distance of two rows, or of two columns if the matrix is transposed.
    pub step: usize,
    /// True if columns are stored one after the other.
    pub is_transposed: bool,
}

/// A right operand in the order in which tiles read it, or as it is stored.
pub struct Right<'a, T: Tiled> {
    tile: Tile<T>,
    elements: Elements<'a, T>,
    rows: usize,
    columns: usize,
}

enum Elements<'a, T: Tiled> {
    /// Strips of columns, one after the other.
    Packed(Buffer<T>),
    /// Rows of whole registers.
    Stored { data: &'a [T], step: usize },
}

/// The largest number of rows of a left operand for which a right operand of whole registers is not worth packing.
const FEW_ROWS: usize = 128;

impl<'a, T: Tiled> Right<'a, T> {
    /// Returns the operand for a product with `uses` rows, packed unless they are few. `tile` computes the product.
    ///
    /// # Panics
    /// Panics if the source is too short for its rows.
    pub fn new(tile: Tile<T>, columns: usize, source: Source<'a, T>, uses: usize) -> Self {
        if source.is_transposed || uses > FEW_ROWS || !columns.is_multiple_of(tile.lanes) {
            return Self::pack(tile, columns, 1, |_| source);
        }
        let Source {
            data, rows, step, ..
        } = source.check(columns);
        Self {
            tile,
            elements: Elements::Stored { data, step },
            rows,
            columns,
        }
    }

    /// Copies `columns` columns of the rows of `count` sources, one after the other, on all cores.
    ///
    /// # Panics
    /// Panics if a source is too short for its rows.
    pub fn pack(
        tile: Tile<T>,
        columns: usize,
        count: usize,
        source: impl Fn(usize) -> Source<'a, T>,
    ) -> Self {
        let sources = allocation::collect((0..count).map(|index| source(index).check(columns)));
        let (rows, len) = packed_len(&sources, columns, tile.lanes);
        let mut panels = Buffer::new(len);
        let mut rest = &mut panels[..];
        let mut strips = Vec::new();
        for (first, wanted) in self::strips(columns, &tile) {
            let width = wanted.next_multiple_of(tile.lanes);
            let (panel, others) = rest.split_at_mut(rows * width);
            allocation::push(&mut strips, (first, wanted, panel));
            rest = others;
        }
        parallel::for_each_block(&mut strips, 1, |_, strips| {
            let [(first, wanted, panel)] = strips else {
                return;
            };
            let (first, wanted) = (*first, *wanted);
            let width = wanted.next_multiple_of(tile.lanes);
            let mut row = 0;
            for source in &sources {
                let (from, k) = (source.lines(first), source.rows);
                let to = &mut panel[row * width..];
                // SAFETY: `check` has found the rows and columns within the source.
                unsafe {
                    tile.pack(
                        to,
                        &Panel {
                            from,
                            count: wanted,
                            k,
                            width,
                        },
                    )
                };
                row += k;
            }
        });
        Self {
            tile,
            elements: Elements::Packed(panels),
            rows,
            columns,
        }
    }

    /// Returns the elements of a strip from column `first` on, and the distance of its rows.
    fn strip(&self, first: usize, columns: usize) -> (&[T], usize) {
        match &self.elements {
            Elements::Packed(panels) => (
                &panels[first * self.rows..],
                columns.next_multiple_of(self.tile.lanes),
            ),
            Elements::Stored { data, step } => (&data[first..], *step),
        }
    }
}

/// Returns the rows of all sources, and the number of their elements with columns of whole registers.
///
/// # Panics
/// Panics if no object has so many elements: with a step of 0 a short source has any number of rows.
fn packed_len<T>(sources: &[Source<'_, T>], columns: usize, lanes: usize) -> (usize, usize) {
    let mut rows = sources.iter().map(|it| it.rows);
    let rows = rows.try_fold(0_usize, usize::checked_add);
    let width = columns.checked_next_multiple_of(lanes);
    let len = rows.and_then(|rows| rows.checked_mul(width?));
    rows.zip(len).expect("no object has so many elements")
}

/// Returns the first column of each strip, and its number of columns.
fn strips<T>(columns: usize, tile: &Tile<T>) -> impl Iterator<Item = (usize, usize)> {
    split_evenly(columns, tile.columns(), tile.lanes)
}

impl<T> Source<'_, T> {
    /// Panics if the matrix is too short for its rows and these columns.
    fn check(self, columns: usize) -> Self {
        let (lines, len) = match self.is_transposed {
            true => (columns, self.rows),
            false => (self.rows, columns),
        };
        let end = match lines {
            0 => Some(0),
            _ => (lines - 1)
                .checked_mul(self.step)
                .and_then(|start| start.checked_add(len)),
        };
        assert!(
            end.is_some_and(|end| end <= self.data.len()),
            "the source is too short for its rows"
        );
        self
    }

    fn lines(&self, column: usize) -> Lines<T> {
        let (across, down) = match self.is_transposed {
            true => (self.step, 1),
            false => (1, self.step),
        };
        let start = self.data.as_ptr().wrapping_add(column * across);
        Lines {
            start,
            across,
            down,
        }
    }
}

/// A result, and what happens to it.
pub struct Target<'a, T> {
    /// The elements: row `i` begins at `i * step`.
    pub data: &'a mut [T],
    /// The distance of two rows.
    pub step: usize,
    /// True to add the product to the elements instead of overwriting them.
    pub add: bool,
}

/// The pointer to a result whose strips several threads write.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);

// SAFETY: tasks write disjoint columns.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Tiled> Indirect<'_, T> {
    /// Computes the product with `right`, on all cores.
    ///
    /// # Panics
    /// Panics if an offset is outside of the data, if the right operand does not have a row for each term, or if the
    /// result is too short for the rows and columns, or its rows overlap.
    pub fn multiply(&self, right: &Right<'_, T>, target: Target<'_, T>) {
        self.check(right, &target);
        if self.rows.is_empty() || right.columns == 0 {
            return;
        }
        let strips = allocation::collect_unsized(strips(right.columns, &right.tile));
        let c = &Shared(target.data.as_mut_ptr());
        parallel::run(strips.len(), |index| {
            let (first, columns) = strips[index];
            // SAFETY: `check` has found all offsets in bounds, and the strip's rows and columns in the result. Only this
            // task accesses these columns.
            unsafe {
                self.strip(
                    right,
                    (first, columns),
                    c.0.add(first),
                    target.step,
                    target.add,
                )
            };
        });
    }

    fn check(&self, right: &Right<'_, T>, target: &Target<'_, T>) {
        assert!(
            self.runs.len().checked_mul(self.run) == Some(right.rows) && right.rows > 0,
            "the right operand has {} rows for {} runs of {} terms",
            right.rows,
            self.runs.len(),
            self.run
        );
        let largest = |offsets: &[usize]| offsets.iter().copied().max().unwrap_or(0);
        let last = (self.run - 1)
            .checked_mul(self.step)
            .and_then(|last| last.checked_add(largest(self.rows)))
            .and_then(|last| last.checked_add(largest(self.runs)));
        assert!(
            self.rows.is_empty() || last.is_some_and(|last| last < self.data.len()),
            "an offset is outside of the data"
        );
        let end = (self.rows.len().saturating_sub(1))
            .checked_mul(target.step)
            .and_then(|start| start.checked_add(right.columns));
        let is_in_target = end.is_some_and(|end| end <= target.data.len());
        assert!(
            self.rows.is_empty()
                || is_in_target && (target.step >= right.columns || self.rows.len() == 1),
            "the result is too short"
        );
    }

    /// Computes a strip of columns, in blocks of terms for the second cache.
    ///
    /// # Safety
    /// - [`check`](Self::check) has returned; the columns are a strip of the right operand.
    /// - All rows of these columns may be written from `c` on, and no other thread accesses them.
    unsafe fn strip(
        &self,
        right: &Right<'_, T>,
        (first, columns): (usize, usize),
        c: *mut T,
        c_row: usize,
        add: bool,
    ) {
        let (b, b_step) = right.strip(first, columns);
        let mut term = 0;
        let max_runs = (DEPTH / self.run).max(1);
        for (start, count) in split_evenly(self.runs.len(), max_runs, 1) {
            let runs = &self.runs[start..start + count];
            for (p, run) in split_evenly(self.run, DEPTH, 1) {
                let strip = Strip {
                    a: self.data.as_ptr().wrapping_add(p * self.step),
                    a_rows: Rows::At(self.rows),
                    a_step: self.step,
                    runs,
                    run,
                    b: b[term * b_step..].as_ptr(),
                    b_step,
                    c,
                    c_row,
                    rows: self.rows.len(),
                    columns,
                    add: add || term > 0,
                };
                // SAFETY: the terms are a part of those that `check` has found in bounds, and the strip has as many rows
                // of whole registers; the caller guarantees the result.
                unsafe { right.tile.run(&strip) };
                term += runs.len() * run;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::machine::simd::Isa;

    fn tile() -> Tile<f32> {
        f32::tile(Isa::current())
    }

    fn source(data: &[f32], rows: usize, step: usize) -> Source<'_, f32> {
        Source {
            data,
            rows,
            step,
            is_transposed: false,
        }
    }

    /// The operand's last element is read, so that Miri sees an access outside of it.
    #[test]
    fn product_of_rows_at_offsets_matches_loops() {
        for isa in Isa::available() {
            isa.scope(|| {
                let data: Vec<f32> = (0..400).map(|i| (i * 7 % 11) as f32).collect();
                let weights: Vec<f32> = (0..20 * 35).map(|i| (i * 5 % 13) as f32 - 6.0).collect();
                let rows: Vec<usize> = (0..11).map(|i| i * 31).collect();
                let left = Indirect {
                    data: &data[..310 + 50 + 4 * 4 + 1],
                    rows: &rows,
                    runs: &[0, 3, 50, 7],
                    run: 5,
                    step: 4,
                };
                let right = Right::pack(tile(), 35, 2, |part| {
                    source(&weights[part * 350..][..350], 10, 35)
                });
                let mut c = vec![1.0; 10 * 40 + 35];
                left.multiply(
                    &right,
                    Target {
                        data: &mut c,
                        step: 40,
                        add: true,
                    },
                );
                for (i, row) in rows.iter().enumerate() {
                    for j in 0..35 {
                        let sum: f32 = (0..20)
                            .map(|p| data[row + left.runs[p / 5] + p % 5 * 4] * weights[p * 35 + j])
                            .sum();
                        assert_eq!(c[i * 40 + j], 1.0 + sum, "{isa:?} {i} {j}");
                    }
                }
            });
        }
    }

    #[test]
    fn stored_operand_gives_the_product_of_the_packed_one() {
        let weights: Vec<f32> = (0..3 * 40).map(|i| i as f32).collect();
        let left = Indirect {
            data: &[1.0, 2.0, 3.0, 4.0],
            rows: &[0, 1],
            runs: &[0],
            run: 3,
            step: 1,
        };
        let product = |uses| {
            let right = Right::new(tile(), 32, source(&weights[..2 * 40 + 32], 3, 40), uses);
            let mut c = [0.0; 64];
            left.multiply(
                &right,
                Target {
                    data: &mut c,
                    step: 32,
                    add: false,
                },
            );
            c
        };
        assert_eq!(product(1), product(FEW_ROWS + 1));
        assert_eq!(
            product(1)[32],
            2.0 * weights[0] + 3.0 * weights[40] + 4.0 * weights[80]
        );
    }

    #[test]
    fn transposed_source_gives_its_columns() {
        let transposed = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let right = Right::pack(tile(), 3, 1, |_| Source {
            is_transposed: true,
            ..source(&transposed, 2, 2)
        });
        let left = Indirect {
            data: &[10.0, 1.0],
            rows: &[0],
            runs: &[0],
            run: 2,
            step: 1,
        };
        let mut c = [0.0; 3];
        left.multiply(
            &right,
            Target {
                data: &mut c,
                step: 3,
                add: false,
            },
        );
        assert_eq!(c, [12.0, 34.0, 56.0]);
    }

    fn multiply(offset: usize, run: usize, result: usize) {
        let right = Right::pack(tile(), 2, 1, |_| source(&[0.0; 8], 4, 2));
        let left = Indirect {
            data: &[0.0; 8],
            rows: &[0, offset],
            runs: &[0],
            run,
            step: 1,
        };
        left.multiply(
            &right,
            Target {
                data: &mut vec![0.0; result],
                step: 2,
                add: false,
            },
        );
    }

    #[test]
    fn operands_within_bounds_are_multiplied() {
        multiply(4, 4, 4);
    }

    #[test]
    #[should_panic(expected = "an offset is outside of the data")]
    fn rejects_offset_outside_of_data() {
        multiply(5, 4, 4);
    }

    #[test]
    #[should_panic(expected = "an offset is outside of the data")]
    fn rejects_offset_that_wraps() {
        multiply(usize::MAX - 1, 4, 4);
    }

    #[test]
    #[should_panic(expected = "4 rows for 1 runs of 3 terms")]
    fn rejects_other_number_of_terms() {
        multiply(4, 3, 4);
    }

    #[test]
    #[should_panic(expected = "the result is too short")]
    fn rejects_short_result() {
        multiply(4, 4, 3);
    }

    #[test]
    #[should_panic(expected = "no object has so many elements")]
    fn rejects_repeated_row_whose_copies_wrap() {
        Right::pack(tile(), 64, 1, |_| source(&[1.0; 64], 1 << 58, 0));
    }

    #[test]
    #[should_panic(expected = "no object has so many elements")]
    fn rejects_repeated_column_whose_copies_wrap() {
        Right::pack(tile(), usize::MAX, 1, |_| Source {
            is_transposed: true,
            ..source(&[1.0; 64], 64, 0)
        });
    }

    #[test]
    #[should_panic(expected = "the source is too short")]
    fn rejects_short_source() {
        Right::pack(tile(), 2, 1, |_| source(&[0.0; 7], 4, 2));
    }
}
