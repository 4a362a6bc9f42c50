//! Shapes: known in part, or in full.

use std::fmt;
use std::ops::Deref;

use crate::{Error, Result};

/// A shape of which the rank or some dimensions may not be known.
#[derive(Clone, PartialEq, Eq)]
pub struct PartialShape(Option<Box<[Option<usize>]>>);

impl PartialShape {
    /// Returns the shape of unknown rank.
    pub(in crate::kernel) fn unknown_rank() -> Self {
        Self(None)
    }

    /// Converts sizes, of which -1 is an unknown one.
    pub(in crate::kernel) fn from_sizes(sizes: &[i64]) -> Result<Self> {
        let negative = |size| Error::invalid_argument(format!("a dimension of {size}"));
        let dim = |size: &i64| match usize::try_from(*size) {
            Ok(size) => Ok(Some(size)),
            Err(_) if *size == -1 => Ok(None),
            Err(_) => Err(negative(*size)),
        };
        let dims: Result<_> = sizes.iter().map(dim).collect();
        dims.map(|dims| Self(Some(dims)))
    }

    /// Returns the dimensions; `None` if the rank is not known.
    pub fn dims(&self) -> Option<&[Option<usize>]> {
        self.0.as_deref()
    }

    /// Returns the rank, if it is known.
    pub fn rank(&self) -> Option<usize> {
        self.dims().map(<[_]>::len)
    }

    /// Returns true if a tensor of shape `dims` has this shape.
    pub fn matches(&self, dims: &[usize]) -> bool {
        let is_equal =
            |(known, dim): (&Option<usize>, &usize)| known.is_none_or(|known| known == *dim);
        self.dims()
            .is_none_or(|known| known.len() == dims.len() && known.iter().zip(dims).all(is_equal))
    }

    /// Returns the shape if all of it is known.
    pub fn to_shape(&self) -> Option<FullShape> {
        let dims = self.dims()?.iter().copied();
        dims.collect::<Option<_>>().map(FullShape)
    }
}

/// Formats the shape as TensorFlow does, unknown dimensions as `?`.
impl fmt::Display for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(dims) = self.dims() else {
            return f.write_str("<unknown>");
        };
        let dims: Vec<String> = dims
            .iter()
            .map(|dim| dim.map_or_else(|| "?".to_owned(), |it| it.to_string()))
            .collect();
        write!(f, "[{}]", dims.join(","))
    }
}

impl fmt::Debug for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A shape of which all dimensions are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullShape(Box<[usize]>);

impl Deref for FullShape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl TryFrom<PartialShape> for FullShape {
    type Error = Error;

    fn try_from(shape: PartialShape) -> Result<Self> {
        let unknown =
            || Error::invalid_argument(format!("the kernel needs a known shape, got {shape}"));
        shape.to_shape().ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_dimensions_match_any_size() {
        let shape = PartialShape::from_sizes(&[2, -1]).unwrap();
        assert!(shape.matches(&[2, 7]) && shape.matches(&[2, 0]));
        assert!(!shape.matches(&[3, 7]) && !shape.matches(&[2]));
        assert!(PartialShape::unknown_rank().matches(&[1, 2, 3]));
        assert_eq!((shape.rank(), shape.to_string()), (Some(2), "[2,?]".into()));
        assert_eq!(PartialShape::unknown_rank().to_string(), "<unknown>");
    }

    #[test]
    fn shape_known_in_part_is_no_shape() {
        let known = PartialShape::from_sizes(&[2, 0]).unwrap();
        assert_eq!(*FullShape::try_from(known).unwrap(), [2, 0]);
        let partial = PartialShape::from_sizes(&[2, -1]).unwrap();
        let error = FullShape::try_from(partial).unwrap_err();
        assert!(error.message().contains("[2,?]"), "{error}");
        assert!(FullShape::try_from(PartialShape::unknown_rank()).is_err());
        assert!(PartialShape::from_sizes(&[-2]).is_err());
    }
}
