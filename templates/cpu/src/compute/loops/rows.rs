//! Rows of a table that indices select: gather copies them out, scatter changes them.

use crate::compute::loops::map::update;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::parallel::for_each_chunk;
use crate::compute::machine::shape::len;

/// Returns whether indices that select no slice are left out, by the name of TensorFlow's policy; else they are an error.
///
/// # Errors
/// Returns an error if there is no such policy.
pub fn ignores_bad_indices(policy: &str) -> Result<bool> {
    match policy {
        "" | "DEFAULT" | "ERROR" => Ok(false),
        "IGNORE" => Ok(true),
        other => {
            let message = format!("Unknown bad indices handling attribute: {other}");
            Err(Error::Invalid(message))
        }
    }
}

/// Indices of either type, so that a selection is compiled once for both.
#[derive(Clone, Copy, Debug)]
pub enum Indices<'a> {
    /// int32
    Int32(&'a [i32]),
    /// int64
    Int64(&'a [i64]),
}

impl Indices<'_> {
    /// Returns the number of indices.
    pub(in crate::compute) fn len(self) -> usize {
        match self {
            Self::Int32(indices) => indices.len(),
            Self::Int64(indices) => indices.len(),
        }
    }

    /// Returns an index.
    ///
    /// # Panics
    /// Panics if there are not so many.
    pub fn get(self, at: usize) -> i64 {
        match self {
            Self::Int32(indices) => indices[at].into(),
            Self::Int64(indices) => indices[at],
        }
    }

    /// Checks that each index is below `rows`.
    ///
    /// # Errors
    /// Returns an error with the first index that is not.
    pub fn check(self, rows: usize) -> Result<()> {
        match self.find_outside(rows) {
            None => Ok(()),
            Some(at) => Err(Error::IndexOutOfRange {
                at: vec![at],
                index: self.get(at),
                rows,
            }),
        }
    }

    /// Returns the position of the first index that is `limit` or more, or `None`. Negative ones are less.
    pub(in crate::compute) fn find_at_least(self, limit: usize) -> Option<usize> {
        let limit = i64::try_from(limit).ok()?;
        match self {
            Self::Int32(indices) => find_first(indices, |it| i64::from(it) >= limit),
            Self::Int64(indices) => find_first(indices, |it| it >= limit),
        }
    }

    /// Returns the position of the first index that is not below `limit`.
    fn find_outside(self, limit: usize) -> Option<usize> {
        // As `u64`, a negative index is 2^63 or more.
        let limit = limit as u64;
        match self {
            Self::Int32(indices) => find_first(indices, |it| i64::from(it) as u64 >= limit),
            Self::Int64(indices) => find_first(indices, |it| it as u64 >= limit),
        }
    }
}

/// Returns the position of the first element for which `is_found` is true, or `None`. A loop without early exit is
/// vectorized, and most calls find nothing.
pub(in crate::compute) fn find_first<T: Copy>(
    x: &[T],
    is_found: impl Fn(T) -> bool,
) -> Option<usize> {
    match x.iter().fold(false, |found, it| found | is_found(*it)) {
        true => x.iter().position(|it| is_found(*it)),
        false => None,
    }
}

/// The rows that a tensor of indices selects from a table.
///
/// A table of shape `[batch.., rows, row..]` is read by indices of shape `[batch.., selected..]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    dims: Vec<usize>,
    indices: Vec<usize>,
    rows: usize,
    width: usize,
    selected: usize,
}

impl Selection {
    /// Plans a selection; the first `batch_dims` dims of table and indices correspond.
    ///
    /// # Errors
    /// Returns an error if the table has too few dims, or if the batch dims differ.
    pub fn new(table: &[usize], indices: &[usize], batch_dims: usize) -> Result<Self> {
        if table.len() <= batch_dims || indices.len() < batch_dims {
            return Err(Error::TooFewDims {
                dims: table.to_vec(),
                least: batch_dims + 1,
            });
        }
        let (batch, selected) = indices.split_at(batch_dims);
        let row = &table[batch_dims + 1..];
        if table[..batch_dims] != *batch {
            return Err(Error::Incompatible(table.to_vec(), indices.to_vec()));
        }
        Ok(Self {
            dims: [batch, selected, row].concat(),
            indices: indices.to_vec(),
            rows: table[batch_dims],
            width: len(row),
            selected: len(selected),
        })
    }

    /// Returns the shape of the selected rows.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Copies the selected rows to `out`.
    ///
    /// # Errors
    /// Returns an error if an index is out of range.
    ///
    /// # Panics
    /// Panics if a slice has another length than its shape.
    pub fn gather<T: Copy + Send + Sync>(
        &self,
        table: &[T],
        indices: Indices<'_>,
        out: &mut [T],
    ) -> Result<()> {
        self.check(indices)?;
        assert_eq!(out.len(), len(&self.dims), "the length of the rows");
        let width = self.width;
        for_each_chunk(out, cost::Cheap.grain(), |start, mut out| {
            let mut start = start;
            while !out.is_empty() {
                let (at, column) = (start / width, start % width);
                let count = out.len().min(width - column);
                let first = self.row(indices, at) * width + column;
                let (part, rest) = out.split_at_mut(count);
                part.copy_from_slice(&table[first..first + count]);
                (start, out) = (start + count, rest);
            }
        });
        Ok(())
    }

    /// Computes `f(old, new)` of the elements of the selected rows, in the order of the indices. `updates` are the
    /// new elements, or one for all.
    ///
    /// # Errors
    /// Returns an error if an index is out of range. No row is changed then.
    ///
    /// # Panics
    /// Panics if a slice has another length than its shape.
    pub fn scatter<T: Copy + Send + Sync>(
        &self,
        table: &mut [T],
        indices: Indices<'_>,
        updates: Updates<'_, T>,
        f: impl Fn(T, T) -> T + Sync,
    ) -> Result<()> {
        self.check(indices)?;
        for at in 0..indices.len() {
            let first = self.row(indices, at) * self.width;
            let row = &mut table[first..first + self.width];
            match updates {
                Updates::Rows(rows) => update(row, &rows[at * self.width..][..self.width], &f),
                Updates::One(new) => row.iter_mut().for_each(|old| *old = f(*old, new)),
            }
        }
        Ok(())
    }

    /// Returns the row of the whole table that an index selects.
    #[inline]
    fn row(&self, indices: Indices<'_>, at: usize) -> usize {
        // `check` has found all indices in range.
        let index = indices.get(at) as usize;
        at / self.selected * self.rows + index
    }

    fn check(&self, indices: Indices<'_>) -> Result<()> {
        assert_eq!(
            indices.len(),
            len(&self.indices),
            "the length of the indices"
        );
        match indices.find_outside(self.rows) {
            None => Ok(()),
            Some(at) => Err(Error::IndexOutOfRange {
                at: coordinates(at, &self.indices),
                index: indices.get(at),
                rows: self.rows,
            }),
        }
    }
}

/// The new elements of a scatter.
#[derive(Clone, Copy, Debug)]
pub enum Updates<'a, T> {
    /// A row for each index.
    Rows(&'a [T]),
    /// One element for all.
    One(T),
}

/// Returns the coordinates of element `at`.
fn coordinates(at: usize, dims: &[usize]) -> Vec<usize> {
    let mut rest = at;
    let mut coordinates: Vec<usize> = dims
        .iter()
        .rev()
        .map(|dim| {
            let coordinate = rest % dim;
            rest /= dim;
            coordinate
        })
        .collect();
    coordinates.reverse();
    coordinates
}
