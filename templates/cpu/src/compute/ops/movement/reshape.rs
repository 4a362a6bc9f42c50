//! Other dims for the same elements.

use super::{checked_len, resolve_axis};
use crate::compute::machine::error::{Error, Result, listed};
use crate::compute::machine::inline::InlineList;
use crate::compute::machine::shape::len;

/// Converts a shape with at most one -1, which becomes what is left.
///
/// # Errors
/// Returns an error if the shape does not have as many elements as `dims`.
pub fn reshape(
    dims: &[usize],
    shape: impl ExactSizeIterator<Item = i64>,
) -> Result<InlineList<usize>> {
    let mut result = InlineList::new(0);
    let mut unknown = None;
    for (axis, size) in shape.enumerate() {
        if size == -1
            && let Some(first) = unknown.replace(axis)
        {
            let message = format!("at most one size may be -1, but sizes {first} and {axis} are");
            return Err(Error::Invalid(message));
        }
        let known = if size == -1 { 1 } else { size };
        result.push(usize::try_from(known).map_err(|_| {
            Error::Invalid(format!("size {axis} must not be below -1, but is {size}"))
        })?);
    }
    if let Some(axis) = unknown {
        result[axis] = missing_size(dims, &result);
    }
    match checked_len(&result)? == len(dims) {
        true => Ok(result),
        false => Err(Error::Invalid(format!(
            "a tensor of {} elements cannot have the shape {}",
            len(dims),
            listed(&*result)
        ))),
    }
}

/// Returns the size that is left, beside `sizes`. If the tensor and the sizes both have zeros, these do not count.
fn missing_size(dims: &[usize], sizes: &[usize]) -> usize {
    let has_zero = sizes.contains(&0);
    let counted = |it: &&usize| !has_zero || **it != 0;
    let product = |items: &[usize]| {
        let factors = items.iter().filter(counted);
        factors.fold(1_usize, |product, it| product.saturating_mul(*it))
    };
    product(dims) / product(sizes).max(1)
}

/// Removes axes of length 1: those listed, or all.
///
/// # Errors
/// Returns an error if a listed axis does not exist, or is longer than 1.
pub fn squeeze(dims: &[usize], axes: &[i64]) -> Result<InlineList<usize>> {
    let mut is_listed = InlineList::repeat(false, dims.len());
    for axis in axes {
        is_listed[resolve_axis(*axis, dims.len())?] = true;
    }
    let mut result = InlineList::new(0);
    for (axis, dim) in dims.iter().enumerate() {
        match (is_listed[axis], *dim) {
            (true, 1) => {}
            (false, 1) if axes.is_empty() => {}
            (true, dim) => {
                return Err(Error::Invalid(format!(
                    "axis {axis} of {dim} elements cannot be removed: it must have one element"
                )));
            }
            (false, dim) => result.push(dim),
        }
    }
    Ok(result)
}

/// Inserts an axis of length 1.
///
/// # Errors
/// Returns an error if the result has no such axis.
pub fn expand(dims: &[usize], axis: i64) -> Result<InlineList<usize>> {
    let position = resolve_axis(axis, dims.len() + 1).map_err(|_| {
        let rank = dims.len();
        Error::Invalid(format!(
            "axis {axis} cannot be inserted into {rank} dimensions: it must be from -{least} to {rank}",
            least = rank + 1
        ))
    })?;
    let mut result = InlineList::new(0);
    dims[..position].iter().for_each(|dim| result.push(*dim));
    result.push(1);
    dims[position..].iter().for_each(|dim| result.push(*dim));
    Ok(result)
}
