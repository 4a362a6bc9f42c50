//! Slices as Python writes them: begin, end and stride of each axis, ellipsis, new axes, single indices.

use super::copy::{copy_elements, scatter_elements};
use super::strides;
use super::view::View;
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::inline::InlineList;
use sp_plugin::allocation;

/// The bits that give items of a slice a meaning; bit `i` is of item `i`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Masks {
    /// The beginning is not used: the slice begins at the axis's first element in the direction of the stride.
    pub begin: i64,
    /// The end is not used.
    pub end: i64,
    /// The item is an ellipsis: as many whole axes as the tensor has left.
    pub ellipsis: i64,
    /// The item is a new axis of length 1.
    pub new_axis: i64,
    /// The item is one index, whose axis the result does not have.
    pub shrink_axis: i64,
}

/// A slice of a tensor.
#[derive(Debug)]
pub struct StridedSlice {
    /// The elements of the slice.
    pub view: View,
    /// The dims of the slice, with the new axes and without those of single indices.
    pub dims: InlineList<usize>,
}

/// The slice of one axis.
#[derive(Clone, Copy)]
struct Range {
    begin: i64,
    end: i64,
    stride: i64,
    is_begin_masked: bool,
    is_end_masked: bool,
    is_index: bool,
}

/// Items of a slice: bits of a 32-bit mask, of which one may be needed for an ellipsis.
const MAX_ITEMS: usize = 31;

impl StridedSlice {
    /// Creates the slice of a tensor of these dims.
    ///
    /// # Errors
    /// Returns an error if the tensor has fewer axes, an index is out of range, or a stride is 0.
    pub fn new(
        dims: &[usize],
        begin: &[i64],
        end: &[i64],
        strides: &[i64],
        masks: Masks,
    ) -> Result<Self> {
        let lens = [begin.len(), end.len(), strides.len()];
        if lens != [begin.len(); 3] || begin.len() > MAX_ITEMS {
            return Err(Error::Invalid(format!(
                "begin, end and strides must have one length of at most {MAX_ITEMS} elements, not the lengths {lens:?}"
            )));
        }
        if (masks.ellipsis & (1_i64 << begin.len()).wrapping_sub(1)).count_ones() > 1 {
            let message =
                "ellipsis_mask must have at most one item, but the slice has several ellipses";
            return Err(Error::Invalid(message.to_owned()));
        }
        let item = |index: usize| {
            let has = |mask: i64| mask >> index & 1 != 0;
            Range {
                begin: begin[index],
                end: end[index],
                stride: strides[index],
                is_begin_masked: has(masks.begin),
                is_end_masked: has(masks.end),
                is_index: has(masks.shrink_axis),
            }
        };
        Axes::expand(dims, begin.len(), masks, item)?.resolve(dims)
    }

    /// Writes a value of shape `dims`, which is broadcast to the shape of the slice, to the slice of `tensor`.
    ///
    /// # Errors
    /// Returns an error if the value cannot be broadcast. For an empty slice, TensorFlow accepts any value.
    ///
    /// # Panics
    /// Panics if a slice of elements has another length than its shape.
    pub fn assign<T: Copy + Send + Sync>(
        &self,
        dims: &[usize],
        value: &[T],
        tensor: &mut [T],
    ) -> Result<()> {
        let (false, Some(first)) = (self.view.is_empty(), value.first()) else {
            return match self.view.is_empty() {
                true => Ok(()),
                false => Err(self.mismatch(dims)),
            };
        };
        let source = self.broadcast(dims)?;
        if value.len() == source.len() {
            scatter_elements(&self.view, value, tensor);
        } else {
            let mut repeated = allocation::filled(*first, source.len());
            copy_elements(&source, value, &mut repeated);
            scatter_elements(&self.view, &repeated, tensor);
        }
        Ok(())
    }

    /// Returns the view of a value that has the shape of the slice. As in TensorFlow, the value may have more dims if
    /// the first ones are 1.
    fn broadcast(&self, dims: &[usize]) -> Result<View> {
        let (first, last) = dims.split_at(dims.len().saturating_sub(self.dims.len()));
        match first.iter().all(|dim| *dim == 1) {
            true => View::broadcast(last, &self.dims).map_err(|_| self.mismatch(dims)),
            false => Err(self.mismatch(dims)),
        }
    }

    #[cold]
    fn mismatch(&self, dims: &[usize]) -> Error {
        let slice = &*self.dims;
        Error::Invalid(format!(
            "a value of shape {dims:?} must broadcast to the slice that it replaces, of shape {slice:?}"
        ))
    }
}

/// An axis of the result.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// The slice of an axis.
    Axis(usize),
    /// A new axis.
    New,
}

/// The ranges of the tensor's axes, and the axes of the result.
struct Axes {
    ranges: InlineList<Range>,
    kinds: InlineList<Kind>,
}

impl Axes {
    /// Gives each axis of the tensor its range.
    fn expand(
        dims: &[usize],
        items: usize,
        masks: Masks,
        item: impl Fn(usize) -> Range,
    ) -> Result<Self> {
        let is = |mask: i64, index: usize| mask >> index & 1 != 0;
        let ellipsis = (0..items).find(|it| is(masks.ellipsis, *it));
        let mut axes = Self {
            ranges: InlineList::new(Range::WHOLE),
            kinds: InlineList::new(Kind::New),
        };
        for index in 0..items {
            if Some(index) == ellipsis {
                let after = (index + 1..items).filter(|it| !is(masks.new_axis, *it));
                axes.push_whole_until(dims.len().saturating_sub(after.count()));
            } else if is(masks.new_axis, index) {
                axes.kinds.push(Kind::New);
            } else if axes.ranges.len() == dims.len() {
                return Err(too_many_items(dims.len()));
            } else {
                axes.push(item(index));
            }
        }
        axes.push_whole_until(dims.len());
        Ok(axes)
    }

    /// Adds the range of the next axis.
    fn push(&mut self, range: Range) {
        if !range.is_index {
            self.kinds.push(Kind::Axis(self.ranges.len()));
        }
        self.ranges.push(range);
    }

    /// Adds whole axes until there are `end`.
    fn push_whole_until(&mut self, end: usize) {
        while self.ranges.len() < end {
            self.push(Range::WHOLE);
        }
    }

    /// Computes first element and length of each range.
    fn resolve(&self, dims: &[usize]) -> Result<StridedSlice> {
        let steps = strides(dims);
        let mut axes = InlineList::new((1_usize, 0_isize));
        let mut offset = 0_usize;
        for (axis, range) in self.ranges.iter().enumerate() {
            let (first, len) = range.resolve(axis, dims[axis])?;
            // Only a stride that is shorter than the axis has a second element.
            let step = if len > 1 { range.stride as isize } else { 1 };
            axes.push((len, step.wrapping_mul(steps[axis] as isize)));
            offset = offset.wrapping_add(first.wrapping_mul(steps[axis]));
        }
        let mut result = InlineList::new(0);
        for kind in self.kinds.iter() {
            result.push(match kind {
                Kind::Axis(axis) => axes[*axis].0,
                Kind::New => 1,
            });
        }
        let is_empty = axes.iter().any(|(len, _)| *len == 0);
        let offset = if is_empty { 0 } else { offset };
        Ok(StridedSlice {
            view: View::new(axes.iter().copied(), offset),
            dims: result,
        })
    }
}

#[cold]
fn too_many_items(rank: usize) -> Error {
    Error::Invalid(match rank {
        0 => "a scalar has no slices: begin, end and strides must be empty".to_owned(),
        rank => format!("the slice has more items than the {rank} dimensions of the input"),
    })
}

impl Range {
    /// All elements of an axis.
    const WHOLE: Self = Self {
        begin: 0,
        end: 0,
        stride: 1,
        is_begin_masked: true,
        is_end_masked: true,
        is_index: false,
    };

    /// Returns the first element and the number of elements.
    fn resolve(&self, axis: usize, dim: usize) -> Result<(usize, usize)> {
        let dim = i64::try_from(dim).unwrap_or(i64::MAX);
        if self.stride == 0 {
            return Err(Error::Invalid(format!("strides[{axis}] must be non-zero")));
        }
        let from_start = |index: i64| {
            if index < 0 {
                dim.saturating_add(index)
            } else {
                index
            }
        };
        if self.is_index {
            return self.resolve_index(axis, dim, from_start(self.begin));
        }
        let (low, high) = if self.stride > 0 {
            (0, dim)
        } else {
            (-1, dim - 1)
        };
        let (start, stop) = if self.stride > 0 {
            (low, high)
        } else {
            (high, low)
        };
        let begin = match self.is_begin_masked {
            true => start,
            false => from_start(self.begin).clamp(low, high),
        };
        let end = match self.is_end_masked {
            true => stop,
            false => from_start(self.end).clamp(low, high),
        };
        let interval = if self.stride > 0 {
            end - begin
        } else {
            begin - end
        };
        let len = match interval {
            ..=0 => 0,
            interval => (interval as u64).div_ceil(self.stride.unsigned_abs()) as usize,
        };
        Ok((if len > 0 { begin as usize } else { 0 }, len))
    }

    fn resolve_index(&self, axis: usize, dim: i64, index: i64) -> Result<(usize, usize)> {
        if self.stride < 0 {
            let message = "an item that is an index must have the stride 1";
            return Err(Error::Invalid(message.to_owned()));
        }
        match (0..dim).contains(&index) {
            true => Ok((index as usize, 1)),
            false => Err(Error::Invalid(format!(
                "slice index {} of dimension {axis} out of bounds: it has {dim} elements",
                self.begin
            ))),
        }
    }
}
