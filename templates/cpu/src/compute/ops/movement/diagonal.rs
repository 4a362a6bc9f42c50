//! Diagonals of matrices, and bands of them.

use super::{by_width, elements, elements_mut};
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::machine::shape::len;
use sp_plugin::allocation;
use std::ops::Range;

/// The side of a row of diagonals at which a diagonal shorter than the row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The elements after it are padding.
    Left,
    /// The elements before it are padding.
    Right,
}

/// The diagonals `low..=high` of matrices: 0 is the main one, those above it are positive. They are stored as rows of
/// the longest one's length, the highest diagonal first.
#[derive(Clone, Copy, Debug)]
pub struct Diagonals {
    low: i64,
    high: i64,
    rows: usize,
    columns: usize,
    above: Side,
    below: Side,
}

/// A diagonal in its matrix, and in the rows of diagonals: the first element in each, and the number of elements.
struct Run {
    matrix: usize,
    stored: usize,
    len: usize,
}

impl Diagonals {
    /// Creates the diagonals of matrices with these dims. `above` and `below` are the sides of those with positive, or 0,
    /// and with negative numbers. Those outside of the matrices have no elements.
    ///
    /// # Panics
    /// Panics if `low` is above `high`.
    pub fn new(
        [low, high]: [i64; 2],
        [rows, columns]: [usize; 2],
        [above, below]: [Side; 2],
    ) -> Self {
        assert!(low <= high, "diagonals in descending order");
        Self {
            low,
            high,
            rows,
            columns,
            above,
            below,
        }
    }

    /// Checks that the lowest and the highest diagonal have elements, or are the main one.
    ///
    /// # Errors
    /// Returns an error if one is outside of the matrices.
    pub fn check(self) -> Result<Self> {
        let limit = |it: usize| i64::try_from(it).unwrap_or(i64::MAX);
        let (rows, columns) = (limit(self.rows), limit(self.columns));
        let is_inside = |it: i64| it == 0 || (-rows < it && it < columns);
        if is_inside(self.low) && is_inside(self.high) {
            return Ok(self);
        }
        let (low, high) = (self.low, self.high);
        Err(Error::Invalid(format!(
            "a matrix of {rows} rows and {columns} columns has no diagonals {low} to {high}"
        )))
    }

    /// Returns the number of diagonals.
    pub fn count(self) -> usize {
        (self.high - self.low) as usize + 1
    }

    /// Returns the length of the longest diagonal.
    pub fn max_len(self) -> usize {
        let (rows, columns) = (self.rows as i64, self.columns as i64);
        let longest = (rows + self.high.min(0)).min(columns - self.low.max(0));
        usize::try_from(longest).unwrap_or(0)
    }

    /// Returns the dims of the stored diagonals of one matrix: without the first one if there is one diagonal.
    pub fn dims(self) -> Vec<usize> {
        match self.count() {
            1 => vec![self.max_len()],
            count => vec![count, self.max_len()],
        }
    }

    /// Yields the diagonals, the highest first.
    fn runs(self) -> impl Iterator<Item = Run> {
        let max_len = self.max_len();
        (self.low..=self.high)
            .rev()
            .enumerate()
            .map(move |(row, diagonal)| {
                let (down, right) = ((-diagonal).max(0) as usize, diagonal.max(0) as usize);
                let len = self
                    .rows
                    .saturating_sub(down)
                    .min(self.columns.saturating_sub(right));
                let side = if diagonal < 0 { self.below } else { self.above };
                let padding = if side == Side::Left { 0 } else { max_len - len };
                Run {
                    matrix: down * self.columns + right,
                    stored: row * max_len + padding,
                    len,
                }
            })
    }

    /// Copies the diagonals out of matrices. `padding` is one element, for the rest of the rows.
    ///
    /// # Panics
    /// Panics if a slice has another length than the dims imply.
    pub fn read<B: Copy>(self, width: usize, matrices: &[B], padding: &[B], out: &mut [B]) {
        by_width!(width, N => {
            let out = elements_mut::<B, N>(out);
            out.fill(elements::<B, N>(padding)[0]);
            self.for_each(elements::<B, N>(matrices).len(), out.len(), |matrix, stored| {
                out[stored] = elements::<B, N>(matrices)[matrix];
            });
        });
    }

    /// Writes the stored diagonals to matrices.
    ///
    /// # Panics
    /// Panics if a slice has another length than the dims imply.
    pub fn write<B: Copy>(self, width: usize, diagonals: &[B], out: &mut [B]) {
        by_width!(width, N => {
            let (diagonals, out) = (elements::<B, N>(diagonals), elements_mut::<B, N>(out));
            self.for_each(out.len(), diagonals.len(), |matrix, stored| out[matrix] = diagonals[stored]);
        });
    }

    /// Calls `visit(matrix, stored)` with the positions of each element of a diagonal.
    fn for_each(self, matrices: usize, diagonals: usize, mut visit: impl FnMut(usize, usize)) {
        // The dims of empty tensors may be of any size.
        if matrices == 0 || diagonals == 0 {
            return;
        }
        let (size, stored) = (self.rows * self.columns, self.count() * self.max_len());
        assert_eq!(
            matrices / size,
            diagonals / stored,
            "matrices and diagonals differ in number"
        );
        for batch in 0..matrices / size {
            for run in self.runs() {
                let (matrix, first) = (batch * size + run.matrix, batch * stored + run.stored);
                (0..run.len).for_each(|at| visit(matrix + at * (self.columns + 1), first + at));
            }
        }
    }
}

/// Returns rows and columns of the matrix with the diagonals `low..=high`, the longest of `max_len` elements. A number
/// of rows or columns that is -1 is the least possible one.
///
/// # Errors
/// Returns an error if no such matrix has these diagonals.
pub fn matrix_dims([low, high]: [i64; 2], max_len: usize, stated: [i64; 2]) -> Result<[usize; 2]> {
    let rejected = |reason: &str| {
        Error::Invalid(format!(
            "{reason}: {stated:?} for diagonals {low} to {high} of {max_len} elements"
        ))
    };
    let max_len = i64::try_from(max_len).unwrap_or(i64::MAX / 2);
    let least = [max_len - high.min(0), max_len + low.max(0)];
    let [rows, columns] = match stated {
        [-1, -1] => [least[0].max(least[1]); 2],
        [-1, columns] => [least[0], columns],
        [rows, -1] => [rows, least[1]],
        both => both,
    };
    if rows < least[0] || columns < least[1] {
        return Err(rejected("The number of rows or columns is too small"));
    }
    if rows != least[0] && columns != least[1] {
        return Err(rejected(
            "The number of rows or columns is not consistent with the diagonals",
        ));
    }
    // Both are not below `max_len`.
    Ok([rows, columns].map(|it| it as usize))
}

/// Copies the elements of matrices with up to `below` diagonals below the main one, and `above` above it; the others
/// become `zero`. A negative number means all.
///
/// # Panics
/// Panics if a slice has another length than the dims imply.
pub fn band<B: Copy + Send + Sync>(
    dims: &[usize],
    [below, above]: [i64; 2],
    width: usize,
    matrices: &[B],
    zero: &[B],
    out: &mut [B],
) {
    let [.., rows, columns] = *dims else { return };
    assert_eq!(
        [matrices.len(), out.len()],
        [len(dims) * width; 2],
        "length"
    );
    if out.is_empty() {
        return;
    }
    let limit = |it: i64| usize::try_from(it).unwrap_or(usize::MAX);
    let (below, above, size) = (limit(below), limit(above), columns * width);
    // Copies of a whole row of zeros are faster than copies of single elements.
    let zeros = allocation::repeated(zero, columns);
    for_each_row_chunk(out, size, cost::Cheap.grain(), |first, out| {
        let lines = matrices[first * size..].chunks_exact(size);
        for (line, (source, out)) in (first..).zip(lines.zip(out.chunks_exact_mut(size))) {
            let row = line % rows;
            let start = row.saturating_sub(below).min(columns);
            let end = row.saturating_add(above).saturating_add(1).min(columns);
            copy_range(start * width..end.max(start) * width, source, &zeros, out);
        }
    });
}

/// Copies a range of a row, and the other elements from `zeros`.
fn copy_range<B: Copy>(range: Range<usize>, source: &[B], zeros: &[B], out: &mut [B]) {
    out[..range.start].copy_from_slice(&zeros[..range.start]);
    out[range.clone()].copy_from_slice(&source[range.clone()]);
    out[range.end..].copy_from_slice(&zeros[range.end..]);
}
