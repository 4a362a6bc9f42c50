//! Shapes that are known in part, as a shape function computes with them.
//!
//! A shape function computes with values, not with handles of the C API. A shape that remembers the input of each
//! dimension can be written back with all that TensorFlow has. The author has no lifetimes, no handle outlives an
//! error or a panic, and `merge` exists although the C API has none. Tests and kernels can call the function.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use super::dim::Dim;
use crate::{Error, Result};

/// A shape whose dimensions, or whose rank, may be unknown.
#[derive(Debug, Clone)]
pub struct Shape {
    dims: Option<Vec<Dim>>,
    /// The input whose shape of unknown rank it is.
    input: Option<usize>,
}

impl Shape {
    /// Returns a shape of unknown rank.
    pub const fn unknown() -> Self {
        Self {
            dims: None,
            input: None,
        }
    }

    /// Returns the shape of a scalar.
    pub const fn scalar() -> Self {
        Self {
            dims: Some(Vec::new()),
            input: None,
        }
    }

    /// Returns a shape with these dimensions: `Shape::new([2, 3])`.
    pub fn new<D: Into<Dim>>(dims: impl IntoIterator<Item = D>) -> Self {
        Self {
            dims: Some(dims.into_iter().map(Into::into).collect()),
            input: None,
        }
    }

    /// Creates a shape with so many unknown dimensions.
    pub fn unknown_dims(rank: usize) -> Self {
        Self::new(vec![Dim::UNKNOWN; rank])
    }

    pub(super) fn from_input(dims: Option<Vec<Dim>>, input: usize) -> Self {
        Self {
            dims,
            input: Some(input),
        }
    }

    /// Returns the input whose shape of unknown rank it is.
    pub(super) fn input(&self) -> Option<usize> {
        self.input
    }

    /// Returns the rank, or `None` if it is unknown.
    pub fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(Vec::len)
    }

    /// Returns the dimensions, or `None` if the rank is unknown.
    pub fn dims(&self) -> Option<&[Dim]> {
        self.dims.as_deref()
    }

    /// Returns the product of all dimensions, or `None` if one is unknown or the product is too large.
    pub fn element_count(&self) -> Option<u64> {
        let mut dims = self.dims()?.iter();
        dims.try_fold(1_u64, |count, dim| count.checked_mul(dim.size()?))
    }

    /// Returns all sizes, for a kernel that allocates an output of this shape.
    ///
    /// # Errors
    /// Returns an error if one is unknown.
    pub fn known_dims(&self) -> Result<Vec<usize>> {
        let unknown = || Error::internal(format!("shape {self} is not known"));
        let dims = self.dims().ok_or_else(unknown)?.iter();
        let size = |dim: &Dim| usize::try_from(dim.size()?).ok();
        dims.map(|dim| size(dim).ok_or_else(unknown)).collect()
    }

    /// Returns a dimension, which is unknown if the rank is. A negative axis counts from the last dimension, -1.
    ///
    /// # Errors
    /// Returns an error if the shape has no such dimension.
    pub fn dim(&self, axis: i64) -> Result<Dim> {
        match &self.dims {
            Some(dims) => Ok(dims[self.index(axis, dims.len())?]),
            None => Ok(Dim::UNKNOWN),
        }
    }

    /// Returns the shape with another dimension at `axis`; it is unchanged if the rank is unknown.
    ///
    /// # Errors
    /// Returns an error if the shape has no such dimension.
    pub fn with_dim(mut self, axis: i64, dim: impl Into<Dim>) -> Result<Self> {
        if let Some(rank) = self.rank() {
            let (index, dim) = (self.index(axis, rank)?, dim.into());
            self.dims.iter_mut().for_each(|dims| dims[index] = dim);
        }
        Ok(self)
    }

    fn index(&self, axis: i64, rank: usize) -> Result<usize> {
        let none = || Error::invalid_argument(format!("shape {self} has no dimension {axis}"));
        resolve_index(axis, rank)
            .filter(|it| *it < rank)
            .ok_or_else(none)
    }

    /// Returns the shape if its rank is `rank` or unknown; then it has so many unknown dimensions.
    ///
    /// # Errors
    /// Returns an error if it has another rank.
    pub fn with_rank(self, rank: usize) -> Result<Self> {
        match self.rank() {
            None => Ok(Self::unknown_dims(rank)),
            _ => self.check_rank(format_args!("{rank}"), |found| found == rank),
        }
    }

    /// Returns the shape if its rank is at least `rank` or unknown.
    ///
    /// # Errors
    /// Returns an error if its rank is lower.
    pub fn with_rank_at_least(self, rank: usize) -> Result<Self> {
        self.check_rank(format_args!("at least {rank}"), |found| found >= rank)
    }

    /// Returns the shape if its rank is at most `rank` or unknown.
    ///
    /// # Errors
    /// Returns an error if its rank is higher.
    pub fn with_rank_at_most(self, rank: usize) -> Result<Self> {
        self.check_rank(format_args!("at most {rank}"), |found| found <= rank)
    }

    fn check_rank(
        self,
        text: fmt::Arguments<'_>,
        is_valid: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        match self.rank() {
            Some(found) if !is_valid(found) => fail!(
                invalid_argument,
                "shape {self} has rank {found}, expected {text}"
            ),
            _ => Ok(self),
        }
    }

    /// Returns the shape that is equal to both: each dimension is known if it is in one of them.
    ///
    /// # Errors
    /// Returns an error if the ranks or two known dimensions differ.
    pub fn merge(self, other: Self) -> Result<Self> {
        let (Some(left), Some(right)) = (&self.dims, &other.dims) else {
            return Ok(if self.dims.is_some() { self } else { other });
        };
        let different = |_| {
            Error::invalid_argument(format!("shapes must be equal, but are {self} and {other}"))
        };
        if left.len() != right.len() {
            return Err(different(()));
        }
        let dims = left
            .iter()
            .zip(right)
            .map(|(left, right)| left.merge(*right));
        let dims: Vec<Dim> = dims.collect::<Result<_>>().map_err(|_| different(()))?;
        Ok(Self::new(dims))
    }

    /// Returns the dimensions in `range`, or an unknown shape if the rank is unknown. A negative bound counts from the
    /// end: `shape.subshape(..-1)` is the shape without its last dimension.
    ///
    /// # Errors
    /// Returns an error if a bound is beyond the rank, or the end before the start.
    pub fn subshape(&self, range: impl RangeBounds<i64>) -> Result<Self> {
        let Some(dims) = &self.dims else {
            return Ok(Self::unknown());
        };
        let start = match range.start_bound() {
            Bound::Included(start) => resolve_index(*start, dims.len()),
            Bound::Excluded(start) => resolve_index(*start, dims.len()).map(|it| it + 1),
            Bound::Unbounded => Some(0),
        };
        let end = match range.end_bound() {
            Bound::Included(end) => resolve_index(*end, dims.len()).map(|it| it + 1),
            Bound::Excluded(end) => resolve_index(*end, dims.len()),
            Bound::Unbounded => Some(dims.len()),
        };
        let found = start.zip(end).and_then(|(start, end)| dims.get(start..end));
        let none = || Error::invalid_argument(format!("shape {self} has no such subshape"));
        found
            .map(|it| Self::new(it.iter().copied()))
            .ok_or_else(none)
    }

    /// Returns the dimensions of this shape and then those of `other`; unknown if one of the ranks is.
    pub fn concatenate(&self, other: &Self) -> Self {
        match (&self.dims, &other.dims) {
            (Some(first), Some(second)) => Self::new([&first[..], second].concat()),
            _ => Self::unknown(),
        }
    }
}

/// Returns the index that `axis` means, at most `rank`.
fn resolve_index(axis: i64, rank: usize) -> Option<usize> {
    let index = match usize::try_from(axis) {
        Ok(index) => Some(index),
        Err(_) => usize::try_from(axis.unsigned_abs())
            .ok()
            .and_then(|it| rank.checked_sub(it)),
    };
    index.filter(|it| *it <= rank)
}

/// Equal ranks and dimensions. Two unknown shapes are equal.
impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.dims == other.dims
    }
}

impl Eq for Shape {}

/// The shape of a tensor: `input.dims().into()`.
impl<D: Copy + Into<Dim>> From<&[D]> for Shape {
    fn from(dims: &[D]) -> Self {
        Self::new(dims.iter().copied())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(dims) = &self.dims else {
            return f.write_str("?");
        };
        let dims: Vec<String> = dims.iter().map(Dim::to_string).collect();
        write!(f, "[{}]", dims.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(dims: &[i64]) -> Shape {
        Shape::from(dims)
    }

    #[test]
    fn ranks_are_checked_if_known() {
        assert_eq!(Shape::unknown().with_rank(2).unwrap(), shape(&[-1, -1]));
        assert_eq!(shape(&[2]).with_rank(1).unwrap(), shape(&[2]));
        let error = shape(&[2, -1]).with_rank(1).unwrap_err().to_string();
        assert!(
            error.contains("shape [2,?] has rank 2, expected 1"),
            "{error}"
        );
        assert!(shape(&[2]).with_rank_at_least(2).is_err());
        assert!(shape(&[2]).with_rank_at_least(1).is_ok());
        assert!(shape(&[2]).with_rank_at_most(0).is_err());
        assert_eq!(Shape::unknown().with_rank_at_most(0).unwrap().rank(), None);
    }

    #[test]
    fn merge_knows_what_either_shape_knows() {
        let merged = shape(&[2, -1]).merge(shape(&[-1, 3])).unwrap();
        assert_eq!(merged, shape(&[2, 3]));
        assert_eq!(Shape::unknown().merge(shape(&[4])).unwrap(), shape(&[4]));
        for other in [&[3, 3][..], &[2]] {
            let error = shape(&[2, 3]).merge(shape(other)).unwrap_err().to_string();
            assert!(
                error.contains("shapes must be equal, but are [2,3] and"),
                "{error}"
            );
        }
    }

    #[test]
    fn subshapes_count_negative_bounds_from_the_end() {
        let whole = shape(&[2, 3, 4]);
        assert_eq!(whole.subshape(..-1).unwrap(), shape(&[2, 3]));
        assert_eq!(whole.subshape(1..=1).unwrap(), shape(&[3]));
        assert_eq!(whole.subshape(3..).unwrap(), Shape::scalar());
        assert_eq!(Shape::unknown().subshape(7..).unwrap(), Shape::unknown());
        assert!(whole.subshape(4..).is_err() && whole.subshape(-4..).is_err());
        assert!(whole.subshape(-1..1).is_err());
    }

    #[test]
    fn dimensions_are_found_and_replaced_by_axis() {
        assert_eq!(shape(&[2, 3]).dim(-1).unwrap(), Dim::new(3));
        assert_eq!(Shape::unknown().dim(5).unwrap(), Dim::UNKNOWN);
        assert!(shape(&[2, 3]).dim(2).is_err() && shape(&[2, 3]).dim(-3).is_err());
        assert_eq!(shape(&[2, 3]).with_dim(0, 7).unwrap(), shape(&[7, 3]));
        assert!(shape(&[2]).with_dim(1, 7).is_err());
        assert_eq!(shape(&[2]).concatenate(&shape(&[-1])), shape(&[2, -1]));
        assert_eq!(shape(&[2]).concatenate(&Shape::unknown()), Shape::unknown());
        assert_eq!(shape(&[2, 3]).element_count(), Some(6));
        assert_eq!(shape(&[2, -1]).element_count(), None);
    }
}
