//! Movement of elements: slices, transposes, concatenation, padding, gathers. No function reads an element, so each is
//! compiled for the widths of elements, not for their types.
//!
//! A tensor is a slice of bytes `B` and the width of an element. The type of a byte is a parameter, since the bytes of
//! an output are uninitialized. `by_width` passes both as slices of elements `[B; WIDTH]`.

pub mod concat;
mod copy;
pub mod depth;
pub mod diagonal;
pub mod format;
pub mod gather;
pub mod gather_nd;
pub mod one_hot;
pub mod pad;
pub mod partition;
pub mod patches;
pub mod reshape;
pub mod rotate;
pub mod select;
pub mod slice;
pub mod space;
pub mod strided_slice;
mod transpose;
mod view;

pub use copy::{copy, copy_elements, scatter, scatter_elements};
pub use view::View;

use crate::compute::machine::error::{Error, Result, listed};
use crate::compute::machine::inline::InlineList;

/// Returns the strides of a row-major tensor. Those of an empty tensor are not used.
pub fn strides(dims: &[usize]) -> InlineList<usize> {
    let mut strides = InlineList::repeat(1_usize, dims.len());
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis].wrapping_mul(dims[axis]);
    }
    strides
}

/// Converts an axis that counts from the end if it is negative.
///
/// # Errors
/// Returns an error if the tensor has no such axis.
pub fn resolve_axis(axis: i64, rank: usize) -> Result<usize> {
    let signed_rank = i64::try_from(rank).unwrap_or(i64::MAX);
    let resolved = if axis < 0 {
        axis.saturating_add(signed_rank)
    } else {
        axis
    };
    match usize::try_from(resolved) {
        Ok(resolved) if resolved < rank => Ok(resolved),
        _ => Err(Error::AxisOutOfRange { axis, rank }),
    }
}

/// Returns the product of dims.
///
/// # Errors
/// Returns an error if it overflows.
pub fn checked_len(dims: &[usize]) -> Result<usize> {
    let mut factors = dims.iter();
    let len = factors.try_fold(1_usize, |len, dim| len.checked_mul(*dim));
    match dims.contains(&0) {
        true => Ok(0),
        false => len
            .filter(|len| *len <= isize::MAX as usize / 16)
            .ok_or_else(|| {
                Error::Invalid(format!("a tensor of shape {} is too large", listed(dims)))
            }),
    }
}

/// Calls a generic function with elements of a width: `by_width!(width, N => f::<N>(..))`.
macro_rules! by_width {
    ($width:expr, $n:ident => $call:expr) => {
        $crate::compute::machine::constant::by_constant!($width, $n in 1 2 4 8 16 => $call)
    };
}
pub(crate) use by_width;

/// Returns the elements of `N` bytes.
pub(crate) fn elements<B, const N: usize>(bytes: &[B]) -> &[[B; N]] {
    let (elements, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "part of an element of {N} bytes");
    elements
}

/// Returns the elements of `N` bytes.
pub(crate) fn elements_mut<B, const N: usize>(bytes: &mut [B]) -> &mut [[B; N]] {
    let (elements, rest) = bytes.as_chunks_mut();
    assert!(rest.is_empty(), "part of an element of {N} bytes");
    elements
}
