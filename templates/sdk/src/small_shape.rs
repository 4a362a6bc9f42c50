//! Shapes of new tensors of the usual sizes, checked once.

use std::slice;

use crate::{Error, Result};

/// The largest rank of a shape in TensorFlow.
pub(crate) const MAX_RANK: usize = 254;

/// Checks that TensorFlow can represent a shape. Its functions end the process for a shape with too many elements, even if a later
/// dimension is 0, and for a rank that is too large.
///
/// # Errors
/// Returns an error that states the shape.
pub(crate) fn check_shape(dims: &[usize]) -> Result<()> {
    let product = |count: i64, dim: &usize| count.checked_mul(i64::try_from(*dim).ok()?);
    match dims.len() <= MAX_RANK {
        true if dims.iter().try_fold(1, product).is_some() => Ok(()),
        true => Err(too_many_elements(dims)),
        false => Err(too_many_dimensions(dims.len())),
    }
}

#[cold]
fn too_many_elements(dims: &[usize]) -> Error {
    let message = format!("a tensor of shape {dims:?}: the number of elements overflows");
    Error::invalid_argument(message)
}

#[cold]
fn too_many_dimensions(rank: usize) -> Error {
    let message = format!("a tensor of rank {rank}, but TensorFlow has none above {MAX_RANK}");
    Error::invalid_argument(message)
}

/// The largest size of an object.
const MAX_BYTES: usize = isize::MAX as usize;

/// A shape with elements, whose size in bytes an object can have, and whose rank TensorFlow allows. So no dimension is above
/// `isize::MAX`.
#[derive(Clone, Copy)]
pub(crate) struct SmallShape<'d> {
    dims: &'d [usize],
    bytes: usize,
}

impl<'d> SmallShape<'d> {
    /// Returns the shape of a tensor whose elements have `width` bytes; `None` if it has no elements, if no object can have the
    /// size, or if the rank is too large.
    #[inline(always)]
    pub fn new(dims: &'d [usize], width: usize) -> Option<Self> {
        if dims.len() > MAX_RANK {
            return None;
        }
        let mut bytes = width;
        for dim in dims {
            bytes = bytes.checked_mul(*dim)?;
        }
        (1..=MAX_BYTES)
            .contains(&bytes)
            .then_some(Self { dims, bytes })
    }

    /// Returns the dimensions.
    #[inline]
    pub fn dims(self) -> &'d [usize] {
        self.dims
    }

    /// Returns the size of the elements in bytes.
    #[inline]
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Returns the dimensions as C functions take them; `None` if `usize` is not a 64-bit type.
    #[inline(always)]
    pub fn c_dims(self) -> Option<&'d [i64]> {
        let has_same_size = size_of::<usize>() == size_of::<i64>();
        // SAFETY: types of one size, and on targets with 64 bits of one alignment. A dimension is at most `isize::MAX`, since
        // the product of all is, and none is 0. Its bits are the same number as an `i64`.
        has_same_size
            .then(|| unsafe { slice::from_raw_parts(self.dims.as_ptr().cast(), self.dims.len()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn c_dims(dims: &[usize], width: usize) -> Option<Vec<i64>> {
        let shape = SmallShape::new(dims, width)?;
        shape.c_dims().map(<[_]>::to_vec)
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn has_no_dimension_above_largest_object() {
        assert_eq!(c_dims(&[], 4), Some(vec![]));
        assert_eq!(c_dims(&[2, 3], 4), Some(vec![2, 3]));
        assert_eq!(c_dims(&[MAX_BYTES], 1), Some(vec![i64::MAX]));
        for dims in [
            &[usize::MAX][..],
            &[MAX_BYTES + 1],
            &[0, usize::MAX],
            &[usize::MAX, 0],
            &[0],
            &[2, MAX_BYTES],
        ] {
            assert_eq!(c_dims(dims, 1), None, "{dims:?}");
        }
        assert_eq!(c_dims(&[1; 254], 4), Some(vec![1; 254]));
        assert_eq!(c_dims(&[1; 255], 4), None);
        assert_eq!(c_dims(&[MAX_BYTES], 2), None);
        assert_eq!(c_dims(&[usize::MAX], 0), None);
    }

    #[test]
    fn has_size_of_elements() {
        assert_eq!(SmallShape::new(&[2, 3], 4).map(SmallShape::bytes), Some(24));
    }

    #[test]
    fn shapes_that_tensorflow_cannot_represent_are_errors() {
        for dims in [&[][..], &[0], &[0, 1 << 40, 1 << 40], &[1 << 62], &[1; 254]] {
            assert!(check_shape(dims).is_ok(), "{dims:?}");
        }
        let message = |dims: &[usize]| check_shape(dims).unwrap_err().message().to_owned();
        for dims in [
            &[1 << 40, 1 << 40][..],
            &[1 << 40, 1 << 40, 0],
            &[usize::MAX],
        ] {
            assert!(message(dims).contains("overflows"), "{dims:?}");
        }
        assert!(message(&[1; 255]).contains("rank 255"));
    }
}
