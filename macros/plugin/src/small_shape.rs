//! Shapes of new tensors of the usual sizes, checked once.

use std::slice;

/// The largest size of an object.
const MAX_BYTES: usize = isize::MAX as usize;

/// A shape with elements, whose size in bytes an object can have. So no dimension is above `isize::MAX`.
#[derive(Clone, Copy)]
pub(crate) struct SmallShape<'d> {
    dims: &'d [usize],
    bytes: usize,
}

impl<'d> SmallShape<'d> {
    /// Returns the shape of a tensor whose elements have `width` bytes; `None` if it has no elements, or if no object can
    /// have the size.
    #[inline(always)]
    pub fn new(dims: &'d [usize], width: usize) -> Option<Self> {
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
        assert_eq!(c_dims(&[MAX_BYTES], 2), None);
        assert_eq!(c_dims(&[usize::MAX], 0), None);
    }

    #[test]
    fn has_size_of_elements() {
        assert_eq!(SmallShape::new(&[2, 3], 4).map(SmallShape::bytes), Some(24));
    }
}
