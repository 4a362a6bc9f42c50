//! Dimensions of shapes that are known in part.

use std::fmt;

use crate::{Error, Result};

/// The size of a dimension, which may be unknown.
///
/// A dimension of an input is still that dimension in an output. So TensorFlow knows that the two are equal, even if it
/// does not know the size.
#[derive(Debug, Clone, Copy)]
pub struct Dim {
    size: Option<u64>,
    origin: Option<Origin>,
}

/// The dimension of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub input: usize,
    pub axis: usize,
}

impl Dim {
    /// A dimension of unknown size.
    pub const UNKNOWN: Self = Self {
        size: None,
        origin: None,
    };

    /// Returns a dimension of this size.
    pub const fn new(size: u64) -> Self {
        Self {
            size: Some(size),
            origin: None,
        }
    }

    pub(super) fn from_input(size: Option<u64>, input: usize, axis: usize) -> Self {
        Self {
            size,
            origin: Some(Origin { input, axis }),
        }
    }

    pub(super) fn origin(self) -> Option<Origin> {
        self.origin
    }

    /// Returns the size, or `None` if it is unknown.
    pub fn size(self) -> Option<u64> {
        self.size
    }

    /// Returns the dimension that is equal to both.
    ///
    /// # Errors
    /// Returns an error if both sizes are known and differ.
    pub fn merge(self, other: Self) -> Result<Self> {
        match (self.size, other.size) {
            (Some(left), Some(right)) if left != right => fail!(
                invalid_argument,
                "dimensions must be equal, but are {left} and {right}"
            ),
            (None, Some(_)) => Ok(other),
            (None, None) if self.origin.is_none() => Ok(other),
            _ => Ok(self),
        }
    }

    /// Returns the dimension if its size is `size` or unknown; it is known then.
    ///
    /// # Errors
    /// Returns an error if it has another size.
    pub fn with_size(self, size: u64) -> Result<Self> {
        match self.size {
            Some(found) if found != size => fail!(
                invalid_argument,
                "the dimension must be {size}, but is {found}"
            ),
            Some(_) => Ok(self),
            None => Ok(Self::new(size)),
        }
    }

    /// Returns the sum, unknown if one of the two is.
    ///
    /// # Errors
    /// Returns an error if the sum is too large for a dimension.
    pub fn checked_add(self, other: impl Into<Self>) -> Result<Self> {
        self.combine(other.into(), u64::checked_add)
    }

    /// Returns the product, unknown if one of the two is and the other is not 0.
    ///
    /// # Errors
    /// Returns an error if the product is too large for a dimension.
    pub fn checked_mul(self, other: impl Into<Self>) -> Result<Self> {
        let other = other.into();
        match self.size == Some(0) || other.size == Some(0) {
            true => Ok(Self::new(0)),
            false => self.combine(other, u64::checked_mul),
        }
    }

    /// Returns the quotient, unknown if the dimension is.
    ///
    /// # Errors
    /// Returns an error if `divisor` is 0 or the division has a remainder.
    pub fn checked_div(self, divisor: u64) -> Result<Self> {
        let Some(size) = self.size else {
            return Ok(Self::UNKNOWN);
        };
        match size.checked_rem(divisor) {
            Some(0) => Ok(Self::new(size / divisor)),
            _ => fail!(
                invalid_argument,
                "a dimension of {size} is no multiple of {divisor}"
            ),
        }
    }

    fn combine(self, other: Self, operation: fn(u64, u64) -> Option<u64>) -> Result<Self> {
        let (Some(left), Some(right)) = (self.size, other.size) else {
            return Ok(Self::UNKNOWN);
        };
        let found = operation(left, right).filter(|it| i64::try_from(*it).is_ok());
        let too_large = || Error::invalid_argument("a dimension is too large for 64 bits");
        found.map(Self::new).ok_or_else(too_large)
    }
}

/// Equal sizes, or both unknown.
impl PartialEq for Dim {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size
    }
}

impl Eq for Dim {}

macro_rules! sizes {
    ($($ty:ty)*) => {$(
        /// A negative number is an unknown size, as in the C API.
        impl From<$ty> for Dim {
            fn from(size: $ty) -> Self {
                u64::try_from(size).map_or(Self::UNKNOWN, Self::new)
            }
        }
    )*};
}

sizes! { i32 i64 u32 u64 usize }

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.size {
            Some(size) => write!(f, "{size}"),
            None => f.write_str("?"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_of_unknown_dimensions_is_unknown() {
        let two = Dim::new(2);
        assert_eq!(two.checked_add(3).unwrap(), Dim::new(5));
        assert_eq!(two.checked_add(Dim::UNKNOWN).unwrap(), Dim::UNKNOWN);
        assert_eq!(Dim::UNKNOWN.checked_mul(0).unwrap(), Dim::new(0));
        assert_eq!(two.checked_mul(Dim::UNKNOWN).unwrap(), Dim::UNKNOWN);
        assert!(
            two.checked_mul(u64::MAX).is_err() && two.checked_add(i64::MAX.unsigned_abs()).is_err()
        );
        assert_eq!(Dim::new(6).checked_div(3).unwrap(), two);
        assert!(two.checked_div(3).is_err() && two.checked_div(0).is_err());
        assert!(two.with_size(3).is_err() && two.merge(Dim::new(3)).is_err());
        assert_eq!(Dim::UNKNOWN.with_size(3).unwrap(), Dim::new(3));
    }
}
