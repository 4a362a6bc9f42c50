//! A function of the elements of a product, which is applied to each part as soon as its sums are complete.
//!
//! The part, up to 256 rows, is in the second cache then, and a row of it is long enough for a loop. In the registers
//! of the tile each activation would be a further copy of all tiles.

use crate::compute::machine::parallel;
use std::marker::PhantomData;
use std::ops::Range;

/// A function that replaces the elements of a part of a result.
pub type Finish<'a, T> = dyn Fn(Part<'_, T>) + Sync + 'a;

/// The number of elements that a task finishes if they are not finished by the tasks of the product.
const GRAIN: usize = 32 * 1024;

/// Rows of some columns of a matrix.
pub struct Part<'a, T> {
    start: *mut T,
    /// The number of elements from a row's start to the next one's.
    step: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    lifetime: PhantomData<&'a mut [T]>,
}

impl<'a, T> Part<'a, T> {
    /// Creates the part whose first row begins at `start`.
    ///
    /// # Safety
    /// - The elements of each row, `step` after those of the one before, are valid and are accessed through the part only during `'a`.
    /// - `step` is at least the number of columns, if there are several rows.
    pub(super) unsafe fn new(
        start: *mut T,
        step: usize,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Self {
        Self {
            start,
            step,
            rows,
            columns,
            lifetime: PhantomData,
        }
    }

    /// Creates the part of whole rows of `columns` elements, of which `data` has those from the row `first` on.
    pub fn of_rows(first: usize, data: &'a mut [T], columns: usize) -> Self {
        let rows = first..first + data.len().checked_div(columns).unwrap_or(0);
        // SAFETY: the rows are disjoint, within the slice, and borrowed for `'a`.
        unsafe { Self::new(data.as_mut_ptr(), columns, rows, 0..columns) }
    }

    /// Returns the rows.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Returns the columns.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// Calls `f` with each row of the columns.
    #[inline(always)]
    pub fn for_each_row(self, mut f: impl FnMut(&mut [T])) {
        for row in 0..self.rows.len() {
            // SAFETY: `new` requires that the row is valid. Rows do not overlap, and each slice ends before the next begins.
            let row = unsafe {
                std::slice::from_raw_parts_mut(self.start.add(row * self.step), self.columns.len())
            };
            f(row);
        }
    }
}

/// Applies a function to all rows of a matrix, on all cores.
pub fn finish_rows<T: Send>(matrix: &mut [T], columns: usize, finish: &Finish<'_, T>) {
    if matrix.is_empty() {
        return;
    }
    parallel::for_each_row_chunk(matrix, columns, GRAIN, |first, rows| {
        finish(Part::of_rows(first, rows, columns));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_part_have_its_columns_only() {
        let mut matrix = [0; 12];
        // SAFETY: two rows of 4, of which columns 1 and 2 are in the slice, which nothing else accesses.
        let part = unsafe { Part::new(matrix.as_mut_ptr().add(5), 4, 1..3, 1..3) };
        assert_eq!([part.rows(), part.columns()], [1..3, 1..3]);
        let mut count = 0;
        part.for_each_row(|row| {
            count += 1;
            row.fill(count);
        });
        assert_eq!(matrix, [0, 0, 0, 0, 0, 1, 1, 0, 0, 2, 2, 0]);
    }

    #[test]
    fn part_of_rows_without_columns_has_none() {
        let part = Part::of_rows(0, &mut [] as &mut [f32], 0);
        part.for_each_row(|_| panic!("there is no row"));
    }
}
