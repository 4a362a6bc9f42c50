//! Steps of optimizers on rows of variables that indices select.

use crate::compute::loops::precision::{Precision, update_all};
use crate::compute::loops::rows::Indices;
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::shape::len;

/// The rows that a step changes.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    count: usize,
    width: usize,
}

impl Rows {
    /// Returns the rows of variables of shape `dims`, for which a gradient has a row for each index.
    ///
    /// # Errors
    /// Returns an error if a shape differs.
    pub fn new(dims: &[usize], gradient: &[usize], indices: &[usize]) -> Result<Self> {
        let (Some((count, row)), [selected]) = (dims.split_first(), indices) else {
            return Err(Error::Invalid(format!(
                "var must have rows and indices must be a vector, not of shapes {dims:?} and {indices:?}"
            )));
        };
        match gradient.split_first() == Some((selected, row)) {
            true => Ok(Self {
                count: *count,
                width: len(row),
            }),
            false => Err(Error::Invalid(format!(
                "grad of shape {gradient:?} must have a row of var, of shape {dims:?}, for each of {selected} indices"
            ))),
        }
    }

    /// Changes the rows of variables by `step(rows, gradient)`, in the order of the indices.
    ///
    /// # Errors
    /// Returns an error if an index is out of range. No row is changed then.
    ///
    /// # Panics
    /// Panics if a slice has another length than its shape.
    pub fn apply<T: Precision, const N: usize>(
        &self,
        mut variables: [&mut [T]; N],
        gradient: &[T::Compute],
        indices: Indices<'_>,
        step: impl Fn([&mut [T::Compute]; N], &[T::Compute]),
    ) -> Result<()> {
        indices.check(self.count)?;
        // Rows without elements have no chunks.
        for (at, gradient) in gradient.chunks_exact(self.width.max(1)).enumerate() {
            // The indices were checked.
            let first = indices.get(at) as usize * self.width;
            let rows = (variables.each_mut()).map(|it| &mut it[first..first + self.width]);
            update_all(rows, |rows| step(rows, gradient));
        }
        Ok(())
    }
}
