//! Slices of a tensor that rows of indices address: the items of a row are indices along the first dims.

use super::gather::Index;
use crate::compute::loops::rows::ignores_bad_indices;
use crate::compute::machine::error::{Dims, Error, Result};
use crate::compute::machine::inline::InlineList;
use crate::compute::machine::shape::len;

/// A gather of slices of a tensor.
#[derive(Clone, Debug)]
pub struct GatherNd<'a> {
    /// The dims that a row of indices addresses.
    dims: &'a [usize],
    output_dims: InlineList<usize>,
    rows: usize,
    slice_len: usize,
    ignores_bad_indices: bool,
}

impl<'a> GatherNd<'a> {
    /// Plans a gather from a tensor `params` of these dims.
    ///
    /// # Errors
    /// Returns an error if the indices have more items than the tensor has dims, or if it has no slice to address.
    pub fn new(params: &'a [usize], indices: &[usize]) -> Result<Self> {
        let rejected = |message: &str| {
            let shapes = format!("params {params:?}, indices {indices:?}");
            Err(Error::Invalid(format!("{message}: {shapes}")))
        };
        let Some((depth, rows)) = indices.split_last().filter(|_| !params.is_empty()) else {
            return rejected("params and indices must have at least one dimension");
        };
        if *depth > params.len() {
            return rejected("the last dimension of indices must be at most the rank of params");
        }
        if params.contains(&0) && len(rows) > 0 {
            return rejected("Requested more than 0 entries, but params is empty");
        }
        let (dims, slice) = params.split_at(*depth);
        let mut output_dims = InlineList::from(rows);
        slice.iter().for_each(|dim| output_dims.push(*dim));
        Ok(Self {
            dims,
            output_dims,
            rows: len(rows),
            slice_len: len(slice),
            ignores_bad_indices: false,
        })
    }

    /// Sets what a row that addresses no slice does, by the name of TensorFlow's policy.
    ///
    /// # Errors
    /// Returns an error if there is no such policy.
    pub fn with_policy(mut self, policy: &str) -> Result<Self> {
        self.ignores_bad_indices = ignores_bad_indices(policy)?;
        Ok(self)
    }

    /// Sets the number of items that `gather` copies for each element, as for elements of bytes.
    #[must_use]
    pub fn with_width(mut self, width: usize) -> Self {
        self.slice_len = self.slice_len.saturating_mul(width);
        self
    }

    /// Returns the dims of the result.
    pub fn output_dims(&self) -> &[usize] {
        &self.output_dims
    }

    /// Copies the slice of each row. A row that addresses no slice has slices of `zero`, if the policy ignores it.
    ///
    /// # Errors
    /// Returns an error if a row addresses no slice and the policy does not ignore it.
    ///
    /// # Panics
    /// Panics if a slice is shorter than the dims require.
    pub fn gather<B: Copy, I: Index>(
        &self,
        params: &[B],
        indices: &[I],
        zero: B,
        out: &mut [B],
    ) -> Result<()> {
        let (depth, slice_len) = (self.dims.len(), self.slice_len);
        for row in 0..self.rows {
            let index = &indices[row * depth..][..depth];
            let slice = &mut out[row * slice_len..][..slice_len];
            match position(self.dims, index) {
                Some(it) => slice.copy_from_slice(&params[it * slice_len..][..slice_len]),
                None if self.ignores_bad_indices => slice.fill(zero),
                None => return Err(bad_index(row, index, self.dims)),
            }
        }
        Ok(())
    }
}

fn bad_index<I: Index>(row: usize, index: &[I], dims: &[usize]) -> Error {
    let index: Vec<i64> = index.iter().map(|it| it.to_i64()).collect();
    Error::Invalid(format!(
        "indices[{row}] = {index:?} does not index into param shape {}",
        Dims(dims)
    ))
}

/// Returns the row-major position of the element with these indices.
#[inline]
fn position<I: Index>(dims: &[usize], index: &[I]) -> Option<usize> {
    let mut pairs = dims.iter().zip(index);
    pairs.try_fold(0, |position, (dim, index)| {
        Some(position * dim + index.checked(*dim)?)
    })
}
