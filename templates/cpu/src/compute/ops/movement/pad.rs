//! Padding with one value, or with the mirror image of the tensor.

use super::{by_width, elements, elements_mut};
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::inline::InlineList;
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::machine::shape::len;
use crate::compute::scalar::arith::Number;

/// The choice of the elements outside of the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One value.
    Constant,
    /// The mirror image without the border.
    Reflect,
    /// The mirror image with the border.
    Symmetric,
}

/// An axis of the result: the tensor's length, and the elements before and after it.
#[derive(Clone, Copy, Debug)]
struct Axis {
    dim: usize,
    before: usize,
    after: usize,
}

impl Axis {
    fn padded(self) -> usize {
        self.before + self.dim + self.after
    }

    /// Returns the element of the tensor for an element of the result; `None` for the constant.
    fn source(self, index: usize, mode: Mode) -> Option<usize> {
        let border = usize::from(mode == Mode::Reflect);
        match index.checked_sub(self.before) {
            Some(inside) if inside < self.dim => Some(inside),
            _ if mode == Mode::Constant => None,
            None => Some(self.before - 1 - index + border),
            Some(beyond) => Some(self.dim - 1 - (beyond - self.dim) - border),
        }
    }
}

/// A padding of a tensor.
#[derive(Debug)]
pub struct Padding {
    axes: InlineList<Axis>,
    dims: InlineList<usize>,
    mode: Mode,
}

impl Padding {
    /// Creates the padding of a tensor of these dims by `paddings[2 * axis]` elements before and `paddings[2 * axis +
    /// 1]` elements after each axis.
    ///
    /// # Errors
    /// Returns an error if a padding is negative, too large, or longer than the mirror image.
    pub fn new(dims: &[usize], paddings: &[i64], mode: Mode) -> Result<Self> {
        assert_eq!(paddings.len(), 2 * dims.len(), "two paddings for each axis");
        let mut axes = InlineList::new(Axis {
            dim: 1,
            before: 0,
            after: 0,
        });
        let mut result = InlineList::new(0);
        for (axis, dim) in dims.iter().enumerate() {
            let [before, after] = [paddings[2 * axis], paddings[2 * axis + 1]];
            let padded = pad_axis(*dim, before, after, mode).ok_or_else(|| {
                let limit = match mode {
                    Mode::Constant => String::new(),
                    Mode::Reflect => {
                        format!(", paddings must be less than the dimension size {dim} for a mirror image")
                    }
                    Mode::Symmetric => {
                        format!(", paddings must be no greater than the dimension size {dim} for a mirror image")
                    }
                };
                Error::Invalid(format!(
                    "Paddings must be non-negative: {before} {after} of axis {axis}{limit}"
                ))
            })?;
            result.push(padded.padded());
            axes.push(padded);
        }
        super::checked_len(&result)?;
        Ok(Self {
            axes,
            dims: result,
            mode,
        })
    }

    /// Returns the dims of the result.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Returns true if nothing is added.
    pub fn is_empty(&self) -> bool {
        self.axes.iter().all(|it| it.before == 0 && it.after == 0)
    }

    /// Writes the padded tensor. `value` is one element; a mirror image does not use it.
    ///
    /// # Panics
    /// Panics if the source or the result has another length than the dims imply.
    pub fn pad<B: Copy + Send + Sync>(
        &self,
        width: usize,
        source: &[B],
        value: &[B],
        out: &mut [B],
    ) {
        by_width!(width, N => {
            let value = elements::<B, N>(value).first().copied();
            self.pad_elements(elements::<B, N>(source), value, elements_mut::<B, N>(out));
        });
    }

    fn pad_elements<T: Copy + Send + Sync>(&self, source: &[T], value: Option<T>, out: &mut [T]) {
        assert_eq!(out.len(), len(&self.dims), "the result differs in length");
        if out.is_empty() {
            return;
        }
        let (outer, block) = self.split();
        let inner = outer.last().copied();
        let row = inner.map_or(block, |it| it.padded() * block);
        for_each_row_chunk(out, row, cost::Cheap.grain(), |first, out| {
            for (index, out) in out.chunks_exact_mut(row).enumerate() {
                let start = self.row_start(outer, block, first + index);
                match (inner, start) {
                    (None, _) => out.copy_from_slice(source),
                    (Some(_), None) => fill(out, value),
                    (Some(inner), Some(start)) => {
                        self.pad_row(inner, block, &source[start..], value, out);
                    }
                }
            }
        });
    }

    /// Adds each element of a padded tensor to the element of which it is the mirror image: the gradient of a padding.
    ///
    /// # Panics
    /// Panics if a slice has another length than the dims imply, or the padding is a constant.
    pub fn fold<T: Number>(&self, padded: &[T], out: &mut [T]) {
        assert_eq!(
            padded.len(),
            len(&self.dims),
            "the padded tensor differs in length"
        );
        assert_ne!(
            self.mode,
            Mode::Constant,
            "a constant is the image of no element"
        );
        let (outer, block) = self.split();
        let inner = outer.last().copied().unwrap_or(Axis {
            dim: 1,
            before: 0,
            after: 0,
        });
        out.fill(T::ZERO);
        if padded.is_empty() {
            return;
        }
        let row = inner.padded() * block;
        for (index, padded) in padded.chunks_exact(row).enumerate() {
            let start = self.row_start(outer, block, index).unwrap_or(0);
            for (index, padded) in padded.chunks_exact(block).enumerate() {
                let element = start + inner.source(index, self.mode).unwrap_or(0) * block;
                let sums = out[element..element + block].iter_mut().zip(padded);
                sums.for_each(|(sum, it)| *sum = sum.plus(*it));
            }
        }
    }

    /// Splits off the trailing axes without padding, which are copied as blocks of this length.
    fn split(&self) -> (&[Axis], usize) {
        let is_padded = |it: &Axis| it.before + it.after > 0;
        let padded = self.axes.iter().rposition(is_padded).map_or(0, |it| it + 1);
        let block = self.axes[padded..].iter().map(|it| it.dim).product();
        (&self.axes[..padded], block)
    }

    /// Returns the first element of the source's row for a row of the result; `None` if the row is padding.
    fn row_start(&self, axes: &[Axis], block: usize, row: usize) -> Option<usize> {
        let (inner, outer) = axes.split_last()?;
        let (mut rest, mut stride, mut start) = (row, inner.dim * block, 0);
        for axis in outer.iter().rev() {
            start += axis.source(rest % axis.padded(), self.mode)? * stride;
            rest /= axis.padded();
            stride *= axis.dim;
        }
        Some(start)
    }

    /// Writes one row: padding, the source, padding.
    fn pad_row<T: Copy>(
        &self,
        axis: Axis,
        block: usize,
        source: &[T],
        value: Option<T>,
        out: &mut [T],
    ) {
        let (before, rest) = out.split_at_mut(axis.before * block);
        let (inside, after) = rest.split_at_mut(axis.dim * block);
        inside.copy_from_slice(&source[..axis.dim * block]);
        if self.mode == Mode::Constant {
            fill(before, value);
            return fill(after, value);
        }
        let image = |index: usize| {
            // A mirror image has a source for each element.
            let element = axis.source(index, self.mode).unwrap_or(0);
            &source[element * block..][..block]
        };
        let block_of = |out: &mut [T], index| out.copy_from_slice(image(index));
        for (index, out) in before.chunks_exact_mut(block).enumerate() {
            block_of(out, index);
        }
        for (index, out) in after.chunks_exact_mut(block).enumerate() {
            block_of(out, axis.before + axis.dim + index);
        }
    }
}

fn fill<T: Copy>(out: &mut [T], value: Option<T>) {
    if let Some(value) = value {
        out.fill(value);
    }
}

/// Returns the axis; `None` if the padding is not possible.
fn pad_axis(dim: usize, before: i64, after: i64, mode: Mode) -> Option<Axis> {
    let (before, after) = (usize::try_from(before).ok()?, usize::try_from(after).ok()?);
    before.checked_add(dim)?.checked_add(after)?;
    let longest = before.max(after);
    let is_possible = match mode {
        Mode::Constant => true,
        Mode::Reflect => longest < dim,
        Mode::Symmetric => longest <= dim,
    };
    is_possible.then_some(Axis { dim, before, after })
}
