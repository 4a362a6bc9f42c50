//! Slices with a beginning and a size for each axis.

use super::strides;
use super::view::View;
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::inline::InlineList;

/// Creates the view of `size[i]` elements from `begin[i]` on along each axis; a size of -1 is the rest of the axis.
/// Returns it with the dims of the result.
///
/// # Errors
/// Returns an error if the slice is not in the tensor.
pub fn slice(dims: &[usize], begin: &[i64], size: &[i64]) -> Result<(View, InlineList<usize>)> {
    if begin.len() != dims.len() || size.len() != dims.len() {
        return Err(Error::Invalid(format!(
            "begin and size must have a number for each of {} dimensions, not {} and {}",
            dims.len(),
            begin.len(),
            size.len()
        )));
    }
    let mut result = InlineList::new(0);
    let mut begins = InlineList::new(0);
    for (axis, dim) in dims.iter().enumerate() {
        let (begin, len) = slice_axis(*dim, begin[axis], size[axis]).ok_or_else(|| {
            let (begin, size) = (begin[axis], size[axis]);
            let dim = *dim as i64;
            Error::Invalid(match (0..=dim).contains(&begin) {
                true => format!(
                    "Expected size[{axis}] in [0, {}], but got {size}",
                    dim - begin
                ),
                false => format!("Expected begin[{axis}] in [0, {dim}], but got {begin}"),
            })
        })?;
        begins.push(begin);
        result.push(len);
    }
    let steps = strides(dims);
    let is_empty = result.contains(&0);
    let offset = |axis: usize| begins[axis] * steps[axis];
    let offset = if is_empty {
        0
    } else {
        (0..dims.len()).map(offset).sum()
    };
    let axes = result.iter().zip(steps.iter());
    let view = View::new(axes.map(|(len, step)| (*len, *step as isize)), offset);
    Ok((view, result))
}

fn slice_axis(dim: usize, begin: i64, size: i64) -> Option<(usize, usize)> {
    let begin = usize::try_from(begin).ok().filter(|it| *it <= dim)?;
    match size {
        -1 => Some((begin, dim - begin)),
        _ => {
            let len = usize::try_from(size).ok()?;
            (len <= dim - begin).then_some((begin, len))
        }
    }
}
