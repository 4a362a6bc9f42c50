//! Slices of a tensor that indices select.

use super::{by_width, elements, elements_mut};
use crate::compute::loops::rows::find_first;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::machine::runs;
use std::mem::MaybeUninit;

/// An index of 16, 32 or 64 bits.
pub trait Index: Copy + Sync {
    /// Returns the index as a 64-bit integer.
    fn to_i64(self) -> i64;

    /// Returns the index, if it is below `limit`.
    #[inline]
    fn checked(self, limit: usize) -> Option<usize> {
        let index = usize::try_from(self.to_i64()).ok()?;
        (index < limit).then_some(index)
    }
}

macro_rules! indices {
    ($($ty:ty)*) => {$(
        impl Index for $ty {
            #[inline(always)]
            fn to_i64(self) -> i64 {
                self.into()
            }
        }
    )*};
}

indices!(u8 i8 u16 i16 i32 i64);

/// The dims of a gather along one axis, each a product: `params` is `[batch, outer, axis, inner]`, `indices` is
/// `[batch, indices]`, the result is `[batch, outer, indices, inner]`.
#[derive(Clone, Copy, Debug)]
pub struct Gather {
    /// The dims that both have.
    pub batch: usize,
    /// The dims before the axis.
    pub outer: usize,
    /// The length of the axis.
    pub axis: usize,
    /// The bytes of a slice after the axis.
    pub inner: usize,
    /// The number of indices of each batch.
    pub indices: usize,
}

impl Gather {
    /// Copies the slice of each index. As in TensorFlow, an empty result needs no valid index.
    ///
    /// # Errors
    /// Returns an error if an index is not in the axis.
    ///
    /// # Panics
    /// Panics if a slice does not have the length that the dims imply.
    pub fn gather<B: Copy + Send + Sync, I: Index>(
        self,
        params: &[B],
        indices: &[I],
        out: &mut [B],
    ) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        check_indices(indices, self.axis)?;
        match self.inner {
            1 | 2 | 4 | 8 | 16 => by_width!(self.inner, N => {
                let plan = Self { inner: 1, ..self };
                plan.copy(elements::<B, N>(params), indices, elements_mut::<B, N>(out))
            }),
            _ => self.copy(params, indices, out),
        }
        Ok(())
    }

    /// Copies the slice of each index; `inner` counts elements.
    ///
    /// # Panics
    /// Panics if an index is not in the axis, or a slice does not have the length that the dims imply.
    pub fn gather_elements<T: Copy>(
        self,
        params: &[T],
        indices: &[usize],
        out: &mut [MaybeUninit<T>],
    ) {
        if out.is_empty() {
            return;
        }
        for (row, out) in out.chunks_exact_mut(self.inner).enumerate() {
            let (outer, at) = self.table_and_index(row);
            let start = (outer * self.axis + indices[at]) * self.inner;
            for (out, element) in out.iter_mut().zip(&params[start..start + self.inner]) {
                out.write(*element);
            }
        }
    }

    /// Returns the table of a row of the result, and the position of its index.
    #[inline(always)]
    fn table_and_index(self, row: usize) -> (usize, usize) {
        let (outer, column) = (row / self.indices, row % self.indices);
        (outer, outer / self.outer * self.indices + column)
    }

    /// Copies the slices, of `inner` elements, of indices that were checked.
    fn copy<T: Copy + Send + Sync, I: Index>(self, params: &[T], indices: &[I], out: &mut [T]) {
        let table_len = self.axis * self.inner;
        let grain = match self.inner {
            1 => cost::Moderate.grain(),
            _ => cost::Cheap.grain(),
        };
        for_each_row_chunk(out, self.inner, grain, |first, out| {
            let (mut row, mut out) = (first, out);
            while !out.is_empty() {
                let (outer, start) = self.table_and_index(row);
                let count = self.indices - row % self.indices;
                let count = count.min(out.len() / self.inner);
                let (part, rest) = out.split_at_mut(count * self.inner);
                let table = &params[outer * table_len..][..table_len];
                copy_slices(table, self.inner, &indices[start..start + count], part);
                (row, out) = (row + count, rest);
            }
        });
    }
}

/// Copies the slice of `len` elements of each index, which was checked.
fn copy_slices<T: Copy, I: Index>(table: &[T], len: usize, indices: &[I], out: &mut [T]) {
    if len == 1 {
        for (out, index) in out.iter_mut().zip(indices) {
            *out = table[index.to_i64() as usize];
        }
        return;
    }
    for (at, index) in indices.iter().enumerate() {
        let start = index.to_i64() as usize * len;
        runs::copy_run(&table[start..], false, len, &mut out[at * len..]);
    }
}

/// Checks that all indices are in `0..limit`.
///
/// # Errors
/// Returns an error with the first index that is not.
pub fn check_indices<I: Index>(indices: &[I], limit: usize) -> Result<()> {
    // As `u64`, a negative index is 2^63 or more.
    match find_first(indices, |it| it.to_i64() as u64 >= limit as u64) {
        None => Ok(()),
        Some(at) => Err(Error::Invalid(format!(
            "indices[{at}] = {} is not in [0, {limit})",
            indices[at].to_i64()
        ))),
    }
}
