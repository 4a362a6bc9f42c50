//! Blocks of the axes after the batch moved to the batch, and back.

use super::copy::copy;
use super::pad::{Mode, Padding};
use super::slice::slice;
use super::view::View;
use super::{checked_len, strides};
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::inline::InlineList;
use sp_plugin::allocation;

/// The largest number of axes with blocks, as in TensorFlow.
const MAX_AXES: usize = 4;

/// The sizes of blocks of the axes after the batch, and for each axis two numbers of elements: those added before and
/// after it when blocks move to the batch, or removed when they move back.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    /// The sizes.
    pub sizes: &'a [i64],
    /// The numbers of elements.
    pub borders: &'a [i64],
}

/// A movement in two steps: the elements of a view, and of them, or before it, those of another tensor.
#[derive(Debug)]
pub struct Plan {
    view: View,
    step: Step,
    dims: InlineList<usize>,
}

#[derive(Debug)]
enum Step {
    /// The view reads the padded tensor.
    Pad(Padding),
    /// The view is the result.
    None,
    /// The result is a slice of the view.
    Crop(View),
}

impl Plan {
    /// Plans the movement of blocks to the batch.
    ///
    /// # Errors
    /// Returns an error if the tensor has too few dims, or the blocks do not divide its padded axes.
    pub fn to_batch(dims: &[usize], blocks: Blocks<'_>) -> Result<Self> {
        let sizes = blocks.check("paddings", dims)?;
        let mut paddings = InlineList::new(0);
        [0, 0]
            .iter()
            .chain(blocks.borders)
            .for_each(|it| paddings.push(*it));
        (2 * (1 + sizes.len())..2 * dims.len()).for_each(|_| paddings.push(0));
        let padding = Padding::new(dims, &paddings, Mode::Constant)?;
        let padded = padding.dims();
        let mut result = InlineList::from(padded);
        for (axis, size) in (1..).zip(sizes.iter()) {
            if !padded[axis].is_multiple_of(*size) {
                return Err(Error::Invalid(format!(
                    "block_shape[{}] is {size}, but must divide the {} elements of its padded axis",
                    axis - 1,
                    padded[axis]
                )));
            }
            result[axis] /= size;
            result[0] = axis_len(result[0], *size)?;
        }
        checked_len(&result)?;
        let view = view_to_batch(padded, &result, &sizes);
        let step = if padding.is_empty() {
            Step::None
        } else {
            Step::Pad(padding)
        };
        Ok(Self {
            view,
            step,
            dims: result,
        })
    }

    /// Plans the movement of blocks of the batch to the axes after it.
    ///
    /// # Errors
    /// Returns an error if the tensor has too few dims, or too few elements for the blocks.
    pub fn from_batch(dims: &[usize], blocks: Blocks<'_>) -> Result<Self> {
        let sizes = blocks.check("crops", dims)?;
        let product = sizes
            .iter()
            .fold(1_usize, |product, it| product.saturating_mul(*it));
        if !dims[0].is_multiple_of(product) {
            return Err(Error::Invalid(format!(
                "the batch has {} elements, but must be a multiple of {product}, the product of block_shape",
                dims[0]
            )));
        }
        let mut whole = InlineList::from(dims);
        whole[0] /= product;
        for (dim, size) in whole[1..].iter_mut().zip(sizes.iter()) {
            *dim = axis_len(*dim, *size)?;
        }
        checked_len(&whole)?;
        let view = view_from_batch(dims, &whole, &sizes);
        let (crop, result) = crop(&whole, blocks.borders)?;
        let step = if *result == *whole {
            Step::None
        } else {
            Step::Crop(crop)
        };
        Ok(Self {
            view,
            step,
            dims: result,
        })
    }

    /// Returns the dims of the result.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Writes the result. `zero` is an element for padding.
    ///
    /// # Panics
    /// Panics if the source or the result has another length than the dims imply.
    pub fn run<B: Copy + Send + Sync>(
        &self,
        width: usize,
        source: &[B],
        zero: &[B],
        out: &mut [B],
    ) {
        if out.is_empty() {
            return;
        }
        let elements = |count: usize| allocation::repeated(&zero[..width], count);
        match &self.step {
            Step::None => copy(&self.view, width, source, out),
            Step::Pad(padding) => {
                let mut padded = elements(self.view.len());
                padding.pad(width, source, zero, &mut padded);
                copy(&self.view, width, &padded, out);
            }
            Step::Crop(crop) => {
                let mut whole = elements(self.view.len());
                copy(&self.view, width, source, &mut whole);
                copy(crop, width, &whole, out);
            }
        }
    }
}

impl Blocks<'_> {
    /// Returns the sizes, if the tensor has as many axes after the batch.
    fn check(self, borders: &str, dims: &[usize]) -> Result<InlineList<usize>> {
        let rejected = |reason: String| Err(Error::Invalid(reason));
        let (axes, rank) = (self.sizes.len(), dims.len());
        assert_eq!(self.borders.len(), 2 * axes, "two numbers for each axis");
        if rank <= axes {
            return rejected(format!(
                "input must have a batch and {axes} dimensions of blocks, not {rank} dimensions"
            ));
        }
        if self.borders.iter().any(|it| *it < 0) {
            return rejected(format!("{borders} must not be negative"));
        }
        let mut sizes = InlineList::new(0);
        for size in self.sizes {
            match usize::try_from(*size) {
                Ok(size) if size > 0 => sizes.push(size),
                _ => return rejected(format!("block_shape must be positive, not {size}")),
            }
        }
        let is_moved = |axis: &usize| sizes[*axis] != 1 || self.borders[2 * axis..][..2] != [0, 0];
        let mut moved = (0..axes).filter(is_moved);
        let (first, last) = (moved.next(), moved.next_back());
        let span = first.map_or(0, |first| last.unwrap_or(first) - first + 1);
        if span > MAX_AXES {
            return rejected(format!(
                "blocks may extend over {MAX_AXES} dimensions, but extend over {span}"
            ));
        }
        Ok(sizes)
    }
}

/// Returns the size of an axis with blocks.
///
/// # Errors
/// Returns an error if it exceeds `i64::MAX`, also of a tensor without elements.
fn axis_len(dim: usize, size: usize) -> Result<usize> {
    dim.checked_mul(size)
        .filter(|it| i64::try_from(*it).is_ok())
        .ok_or_else(|| {
            Error::Invalid(format!(
                "the size of an axis exceeds int64: overflow when multiplying {dim} and {size}"
            ))
        })
}

/// Returns the view of a padded tensor: for each element of a block its batch, of one element of each block.
fn view_to_batch(padded: &[usize], result: &[usize], sizes: &[usize]) -> View {
    let steps = strides(padded);
    let within = sizes
        .iter()
        .zip(&steps[1..])
        .map(|(size, step)| (*size, *step));
    let batch = [(padded[0], steps[0])];
    let across = (1..result.len()).map(|axis| {
        let size = sizes.get(axis - 1).copied().unwrap_or(1);
        (result[axis], steps[axis].wrapping_mul(size))
    });
    view(within.chain(batch).chain(across))
}

/// Returns the view of a tensor with the elements of each block together.
fn view_from_batch(dims: &[usize], whole: &[usize], sizes: &[usize]) -> View {
    let steps = strides(dims);
    let mut step = steps[0].wrapping_mul(whole[0]);
    let mut block_steps = InlineList::repeat(0, sizes.len());
    for (block_step, size) in block_steps.iter_mut().zip(sizes).rev() {
        *block_step = step;
        step = step.wrapping_mul(*size);
    }
    let axes = (1..dims.len()).flat_map(|axis| {
        let block = sizes
            .get(axis - 1)
            .map_or((1, 0), |size| (*size, block_steps[axis - 1]));
        [(dims[axis], steps[axis]), block]
    });
    view([(whole[0], steps[0])].into_iter().chain(axes))
}

fn view(axes: impl Iterator<Item = (usize, usize)>) -> View {
    View::new(axes.map(|(len, step)| (len, step as isize)), 0)
}

/// Returns the slice without the elements to remove at the borders of each axis after the batch, and its dims.
fn crop(whole: &[usize], borders: &[i64]) -> Result<(View, InlineList<usize>)> {
    let (mut begin, mut size) = (InlineList::new(0), InlineList::new(0));
    for (axis, dim) in whole.iter().enumerate() {
        let border = axis
            .checked_sub(1)
            .and_then(|it| borders.get(2 * it..2 * it + 2));
        let border = border.unwrap_or(&[0, 0]);
        let rest = i64::try_from(*dim)
            .unwrap_or(i64::MAX)
            .saturating_sub(border[0].saturating_add(border[1]));
        if rest < 0 {
            let message =
                format!("crops {border:?} must not exceed the {dim} elements of dimension {axis}");
            return Err(Error::Invalid(message));
        }
        begin.push(border[0]);
        size.push(rest);
    }
    slice(whole, &begin, &size)
}
