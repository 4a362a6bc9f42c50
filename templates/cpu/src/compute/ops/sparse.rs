//! Sparse tensors: indices of elements, and their values.

pub mod matrix;

use crate::compute::loops::rows::Indices;
use crate::compute::machine::error::{Error, Result, listed};
use std::ops::Range;

/// The elements of a tensor that have values.
#[derive(Debug)]
pub struct Points<'a> {
    indices: Indices<'a>,
    count: usize,
    dims: &'a [usize],
}

impl<'a> Points<'a> {
    /// Creates points of a tensor of shape `dims`: a matrix with a row for each point, a vector, or one index.
    ///
    /// # Errors
    /// Returns an error if the indices have another shape.
    pub fn new(shape: &[usize], indices: Indices<'a>, dims: &'a [usize]) -> Result<Self> {
        let (count, rank) = match *shape {
            [] => (1, 1),
            [count] => (count, 1),
            [count, rank] => (count, rank),
            _ => {
                let message = format!("indices must be at most a matrix, not of shape {shape:?}");
                return Err(Error::Invalid(message));
            }
        };
        if rank != dims.len() {
            let shape = listed(dims);
            let message = format!("indices of {rank} dimensions for a tensor of shape {shape}");
            return Err(Error::Invalid(message));
        }
        Ok(Self {
            indices,
            count,
            dims,
        })
    }

    /// Checks that there is a value for each point, or one for all.
    ///
    /// # Errors
    /// Returns an error if the values have another shape.
    pub fn check_values(&self, shape: &[usize]) -> Result<()> {
        // A single index is a point, whose value may be a vector of one element.
        match shape.is_empty() || shape == [self.count] {
            true => Ok(()),
            false => Err(Error::Invalid(format!(
                "values have shape {shape:?} for {} points",
                self.count
            ))),
        }
    }

    /// Checks that all points are elements of the tensor; with `is_ordered`, that they are in ascending order without
    /// repetition.
    ///
    /// # Errors
    /// Returns an error with the first point that is not.
    pub fn check(&self, is_ordered: bool) -> Result<()> {
        let mut last = None;
        let rows = if is_ordered {
            0..self.count
        } else {
            self.written()
        };
        for row in rows {
            let position = self.position(row);
            let reason = match (position, last) {
                (None, _) => "is out of bounds",
                (Some(it), Some(last)) if is_ordered && it == last => "is repeated",
                (Some(it), Some(last)) if is_ordered && it < last => "is out of order",
                _ => {
                    last = position;
                    continue;
                }
            };
            let (point, dims) = (listed(self.point(row)), listed(self.dims));
            return Err(Error::Invalid(format!(
                "indices[{row}] = {point} {reason} of a tensor of shape {dims}"
            )));
        }
        Ok(())
    }

    /// Writes the values of `width` bytes to their elements; the last value of an element remains.
    ///
    /// # Panics
    /// Panics if a point is not an element, or a slice has another length than its shape.
    pub fn write<B: Copy>(&self, width: usize, values: &[B], out: &mut [B]) {
        let is_one = values.len() == width;
        for row in self.written() {
            let from = if is_one { 0 } else { row * width };
            let position = self.position(row).unwrap_or(usize::MAX);
            out[position * width..][..width].copy_from_slice(&values[from..][..width]);
        }
    }

    /// Returns the points whose values remain. Those of a scalar take no memory, so there can be any number of them.
    fn written(&self) -> Range<usize> {
        match self.dims.is_empty() {
            true => self.count.saturating_sub(1)..self.count,
            false => 0..self.count,
        }
    }

    /// Returns the element of a point.
    fn position(&self, row: usize) -> Option<usize> {
        let mut items = self.point(row).zip(self.dims);
        items.try_fold(0_usize, |position, (index, dim)| {
            let index = usize::try_from(index).ok().filter(|it| it < dim)?;
            position.checked_mul(*dim)?.checked_add(index)
        })
    }

    /// Returns the indices of a point.
    fn point(&self, row: usize) -> impl Iterator<Item = i64> + use<'a> {
        let (rank, indices) = (self.dims.len(), self.indices);
        (row * rank..(row + 1) * rank).map(move |at| indices.get(at))
    }
}
