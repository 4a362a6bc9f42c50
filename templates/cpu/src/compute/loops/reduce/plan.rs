//! The plan of a reduction.

use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::inline::InlineList;
use crate::compute::machine::shape::len;

/// The axes of a tensor that are reduced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduction {
    pub(super) dims: InlineList<usize>,
    reduced: InlineList<bool>,
}

impl Reduction {
    /// Creates the plan for a tensor with these dims; a negative axis counts from the last.
    ///
    /// # Errors
    /// Returns [`Error::ReductionAxis`], or [`Error::AxisRepeated`] if two axes are the same, such as `0` and `-rank`.
    pub fn new(dims: &[usize], axes: &[i64]) -> Result<Self> {
        let rank = dims.len();
        let mut reduced = InlineList::repeat(false, rank);
        for &axis in axes {
            let index = if axis < 0 { axis + rank as i64 } else { axis };
            let index = usize::try_from(index)
                .ok()
                .filter(|i| *i < rank)
                .ok_or(Error::ReductionAxis { axis, rank })?;
            if std::mem::replace(&mut reduced[index], true) {
                return Err(Error::AxisRepeated(index));
            }
        }
        let dims = dims.iter().copied().collect();
        Ok(Self { dims, reduced })
    }

    /// Creates the plan for all elements of a vector.
    pub fn vector(len: usize) -> Self {
        let (mut dims, mut reduced) = (InlineList::new(0), InlineList::new(false));
        dims.push(len);
        reduced.push(true);
        Self { dims, reduced }
    }

    /// Returns the dims of the result: without the reduced ones, or with 1 in their place.
    pub fn dims(&self, keep: bool) -> InlineList<usize> {
        let pairs = self.dims.iter().zip(self.reduced.iter());
        pairs
            .filter_map(|(dim, reduced)| {
                if *reduced {
                    keep.then_some(1)
                } else {
                    Some(*dim)
                }
            })
            .collect()
    }

    /// Returns the number of elements of the result.
    pub fn len(&self) -> usize {
        len(&self.dims(false))
    }

    /// Returns true if the result has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of elements that are reduced to one.
    pub fn count(&self) -> usize {
        self.dims
            .iter()
            .zip(self.reduced.iter())
            .filter(|(_, reduced)| **reduced)
            .fold(1, |count: usize, (dim, _)| count.saturating_mul(*dim))
    }

    /// Returns the axes in the order in which those that are reduced are the last.
    pub fn order(&self) -> InlineList<usize> {
        let is_reduced = |axis: &usize| self.reduced[*axis];
        let axes = 0..self.dims.len();
        let others = axes.clone().filter(|axis| !is_reduced(axis));
        others.chain(axes.filter(is_reduced)).collect()
    }

    /// Returns the dims without those of 1; adjacent dims that are all reduced, or all kept, are merged.
    pub(super) fn groups(&self) -> InlineList<(usize, bool)> {
        let mut groups: InlineList<(usize, bool)> = InlineList::new((1, false));
        for (&dim, &reduced) in self
            .dims
            .iter()
            .zip(self.reduced.iter())
            .filter(|(dim, _)| **dim != 1)
        {
            match groups.last_mut() {
                Some(last) if last.1 == reduced => last.0 = last.0.saturating_mul(dim),
                _ => groups.push((dim, reduced)),
            }
        }
        groups
    }
}
