//! Slices of a tensor that rows of indices select: gathered, or changed by updates.

use crate::compute::loops::rows::{Indices, ignores_bad_indices};
use crate::compute::machine::error::{Error, Result, listed};
use crate::compute::machine::shape::len;
use crate::compute::ops::movement::strides;
use crate::compute::scalar::arith::Number;
use crate::compute::scalar::relation::or;
use sp_plugin::{Bf16, Bool, Complex64, Complex128, F16};
use std::ops;

/// The slices that each row of a tensor of indices selects: the items of a row are indices along the first dims.
#[derive(Debug)]
pub struct Slices {
    dims: Vec<usize>,
    steps: Vec<usize>,
    rows: Vec<usize>,
    slice: Vec<usize>,
    ignores_bad_indices: bool,
}

impl Slices {
    /// Plans the change of a tensor by updates.
    ///
    /// # Errors
    /// Returns an error if the shapes do not fit together: updates have the shape of the rows of indices, then of a
    /// slice.
    pub fn new(tensor: &[usize], indices: &[usize], updates: &[usize]) -> Result<Self> {
        let rejected = |reason: &str| {
            Error::Invalid(format!(
                "{reason}: a tensor of shape {}, indices {indices:?}, updates {updates:?}",
                listed(tensor)
            ))
        };
        let has_dims = !tensor.is_empty() && !updates.is_empty();
        let Some((depth, rows)) = indices.split_last().filter(|_| has_dims) else {
            return Err(rejected("each has at least one dimension"));
        };
        let [is_empty, no_indices, no_updates] =
            [tensor, indices, updates].map(|it| it.contains(&0));
        if (no_indices != no_updates) || (is_empty && !no_indices) {
            return Err(rejected("Indices and updates specified for empty output"));
        }
        if *depth > tensor.len() || (rows.is_empty() && *depth > 0) {
            return Err(rejected(
                "a row of indices has an index for each of the first dimensions",
            ));
        }
        let (dims, slice) = tensor.split_at(*depth);
        if updates.iter().ne(rows.iter().chain(slice)) {
            return Err(rejected(
                "updates have the shape of the rows of indices and of a slice",
            ));
        }
        Ok(Self {
            dims: dims.to_vec(),
            steps: strides(tensor)[..*depth].to_vec(),
            rows: rows.to_vec(),
            slice: slice.to_vec(),
            ignores_bad_indices: false,
        })
    }

    /// Sets the handling of indices that select no slice, by the name of TensorFlow's policy: an error, or left out.
    ///
    /// # Errors
    /// Returns an error if there is no such policy.
    pub fn with_policy(mut self, policy: &str) -> Result<Self> {
        self.ignores_bad_indices = ignores_bad_indices(policy)?;
        Ok(self)
    }

    /// Returns the plan, if each row of indices selects a slice.
    ///
    /// # Errors
    /// Returns an error with the first row that selects none.
    pub fn checked(self, indices: Indices<'_>) -> Result<Self> {
        if self.dims.is_empty() {
            // Each row selects the whole tensor. Rows without indices take no memory, so there can be any number of them.
            return Ok(self);
        }
        let mut rows = 0..len(&self.rows);
        let bad = rows.find(|row| self.start(indices, *row).is_none());
        match bad.filter(|_| !self.ignores_bad_indices) {
            None => Ok(self),
            Some(row) => Err(Error::Invalid(format!(
                "indices[{row}] = {} does not index into shape {}",
                listed(self.row(indices, row)),
                listed(self.dims.iter().chain(&self.slice))
            ))),
        }
    }

    /// Computes `f(old, new)` of the elements of the selected slices, in the order of the rows. Rows that select no
    /// slice are left out.
    ///
    /// # Panics
    /// Panics if `updates` has not a slice for each row.
    pub fn scatter<T: Copy>(
        &self,
        tensor: &mut [T],
        indices: Indices<'_>,
        updates: &[T],
        f: impl Fn(T, T) -> T,
    ) {
        let width = len(&self.slice);
        if updates.is_empty() {
            return;
        }
        for (row, updates) in updates.chunks_exact(width).enumerate() {
            let Some(start) = self.start(indices, row) else {
                continue;
            };
            let slice = tensor[start..start + width].iter_mut().zip(updates);
            slice.for_each(|(old, new)| *old = f(*old, *new));
        }
    }

    /// Returns the first element of the slice that a row selects.
    fn start(&self, indices: Indices<'_>, row: usize) -> Option<usize> {
        let mut items = self.row(indices, row).zip(&self.dims).zip(&self.steps);
        items.try_fold(0, |start, ((index, dim), step)| {
            let index = usize::try_from(index).ok().filter(|it| it < dim)?;
            Some(start + index * step)
        })
    }

    /// Returns the items of a row of indices.
    fn row<'a>(&self, indices: Indices<'a>, row: usize) -> impl Iterator<Item = i64> + use<'a> {
        let depth = self.dims.len();
        (row * depth..(row + 1) * depth).map(move |at| indices.get(at))
    }
}

/// An element that updates are added to.
pub trait Accumulate: Copy {
    /// Returns the sum. That of truth values is true if one of them is.
    fn accumulate(self, update: Self) -> Self;
}

/// An element that updates are subtracted from.
pub trait Deduct: Copy {
    /// Returns the difference. That of truth values is true if they differ.
    fn deduct(self, update: Self) -> Self;
}

macro_rules! elements {
    ($($ty:ident)*: $plus:path, $minus:path) => {$(
        impl Accumulate for $ty {
            #[inline(always)]
            fn accumulate(self, update: Self) -> Self {
                $plus(self, update)
            }
        }

        impl Deduct for $ty {
            #[inline(always)]
            fn deduct(self, update: Self) -> Self {
                $minus(self, update)
            }
        }
    )*};
}

elements!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 F16 Bf16: Number::plus, Number::minus);
elements!(Complex64 Complex128: ops::Add::add, ops::Sub::sub);

impl Accumulate for Bool {
    #[inline(always)]
    fn accumulate(self, update: Self) -> Self {
        or(self, update)
    }
}

impl Deduct for Bool {
    #[inline(always)]
    fn deduct(self, update: Self) -> Self {
        Bool::from(self.get() != update.get())
    }
}
