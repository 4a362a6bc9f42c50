//! Products of a sparse matrix.

use crate::compute::loops::map::update;
use crate::compute::loops::rows::Indices;
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::workspace::zeroed;
use crate::compute::ops::movement::{View, copy_elements};
use crate::compute::scalar::arith::Number;

/// A sparse matrix.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// The row and the column of each value.
    pub indices: Indices<'a>,
    /// The number of rows and of columns.
    pub dims: [usize; 2],
    /// True if the transpose is multiplied.
    pub is_transposed: bool,
}

impl Matrix<'_> {
    /// Returns the number of rows of a product.
    pub fn rows(&self) -> usize {
        self.dims[usize::from(self.is_transposed)]
    }

    /// Checks the shapes of a product with `b`; returns the number of rows and of columns of `b`, or of its transpose.
    ///
    /// # Errors
    /// Returns an error if the shapes do not fit together.
    pub fn check(
        &self,
        indices: &[usize],
        values: &[usize],
        b: &[usize],
        is_b_transposed: bool,
    ) -> Result<[usize; 2]> {
        let rejected = |reason: &str| {
            let dims = self.dims;
            Err(Error::Invalid(format!(
                "{reason}: a {dims:?}, a_indices {indices:?}, a_values {values:?}, b {b:?}"
            )))
        };
        let &[rows, columns] = b else {
            return rejected("b must be a matrix");
        };
        let fits = matches!((indices, values), ([count, 2], [values]) if count == values);
        let inner = self.dims[usize::from(!self.is_transposed)];
        let [rows, columns] = if is_b_transposed {
            [columns, rows]
        } else {
            [rows, columns]
        };
        if !fits {
            rejected("a_indices must be a matrix of two columns, with a row for each value")
        } else if rows != inner {
            rejected("inner dimensions differ")
        } else {
            Ok([rows, columns])
        }
    }

    /// Adds the product with `b`, or with its transpose, to `out`.
    ///
    /// # Errors
    /// Returns an error if an index is out of range. For an empty product, TensorFlow accepts any.
    ///
    /// # Panics
    /// Panics if a slice has another length than its shape.
    pub fn multiply<T: Number>(
        &self,
        values: &[T],
        b: &[T],
        [inner, columns]: [usize; 2],
        is_b_transposed: bool,
        out: &mut [T],
    ) -> Result<()> {
        if out.is_empty() || b.is_empty() {
            return Ok(());
        }
        let mut copy: Vec<T>;
        let b = if is_b_transposed {
            copy = zeroed(b.len());
            let steps = [(inner, 1), (columns, inner as isize)];
            copy_elements(&View::new(steps, 0), b, &mut copy);
            &copy
        } else {
            b
        };
        for (at, value) in values.iter().enumerate() {
            let [row, column] = self.find(at)?;
            let out = &mut out[row * columns..][..columns];
            update(out, &b[column * columns..][..columns], |old: T, b| {
                old.plus(value.times(b))
            });
        }
        Ok(())
    }

    /// Returns the row and the column of a value in the matrix that is multiplied.
    fn find(&self, at: usize) -> Result<[usize; 2]> {
        let item = |n: usize| {
            let (index, rows) = (self.indices.get(2 * at + n), self.dims[n]);
            let found = usize::try_from(index).ok().filter(|it| *it < rows);
            found.ok_or_else(|| Error::IndexOutOfRange {
                at: vec![at, n],
                index,
                rows,
            })
        };
        let [row, column] = [item(0)?, item(1)?];
        Ok(if self.is_transposed {
            [column, row]
        } else {
            [row, column]
        })
    }
}
