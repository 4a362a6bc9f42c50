//! Views: a tensor read with other dims, steps and an offset, which a [`copy`](super::copy) makes contiguous.

use super::strides;
use crate::compute::machine::error::{Error, Result, incompatible};
use crate::compute::machine::inline::InlineList;
use crate::compute::machine::shape::len;

/// One loop of a view: its length, and the step in the source; 0 repeats, a negative step reverses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Axis {
    pub(super) len: usize,
    pub(super) step: isize,
}

/// The elements of a tensor in another order: loops over the result, outermost first, with steps in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    axes: InlineList<Axis>,
    pub(super) offset: usize,
    len: usize,
}

impl View {
    /// Creates a view of the axes `(length, step)`, outermost first. Adjacent axes become one where the steps continue.
    ///
    /// The product of the lengths must not overflow, unless one is 0.
    pub fn new(axes: impl IntoIterator<Item = (usize, isize)>, offset: usize) -> Self {
        let mut merged = InlineList::new(Axis { len: 1, step: 1 });
        let mut total = 1_usize;
        for (len, step) in axes {
            total = total.saturating_mul(len);
            push_axis(&mut merged, Axis { len, step });
        }
        if merged.is_empty() {
            merged.push(Axis { len: 1, step: 1 });
        }
        Self {
            axes: merged,
            offset,
            len: total,
        }
    }

    /// Creates the view whose axis `i` is axis `permutation[i]` of a tensor of these dims. A negative axis counts from
    /// the end.
    ///
    /// # Errors
    /// Returns an error if `permutation` does not name each axis once.
    pub fn transposed(
        dims: &[usize],
        permutation: impl ExactSizeIterator<Item = i64>,
    ) -> Result<(Self, InlineList<usize>)> {
        if permutation.len() != dims.len() {
            let (rank, len) = (dims.len(), permutation.len());
            return Err(Error::Invalid(format!(
                "transpose expects a vector of size {rank}. But input(1) is a vector of size {len}"
            )));
        }
        let steps = strides(dims);
        let mut is_used = InlineList::repeat(false, dims.len());
        let mut axes = InlineList::new((1, 0));
        let mut transposed = InlineList::new(0);
        for axis in permutation {
            let rank = dims.len();
            let out_of_range = |_| Error::Invalid(format!("{axis} is out of range [0 .. {rank})"));
            let axis = super::resolve_axis(axis, rank).map_err(out_of_range)?;
            is_used[axis] = true;
            axes.push((dims[axis], steps[axis] as isize));
            transposed.push(dims[axis]);
        }
        if let Some(axis) = is_used.iter().position(|it| !it) {
            return Err(Error::Invalid(format!(
                "{axis} is missing from perm, which has another axis twice"
            )));
        }
        Ok((Self::new(axes.iter().copied(), 0), transposed))
    }

    /// Creates the view that repeats a tensor of these dims so that it has `result` dims.
    ///
    /// # Errors
    /// Returns an error if the dims do not broadcast to `result`.
    pub fn broadcast(dims: &[usize], result: &[usize]) -> Result<Self> {
        let error = || incompatible(dims, result);
        let skip = result.len().checked_sub(dims.len()).ok_or_else(error)?;
        super::checked_len(result)?;
        let steps = strides(dims);
        let mut axes = InlineList::new((1, 0));
        for (axis, len) in result.iter().enumerate() {
            let step = match axis.checked_sub(skip) {
                Some(axis) if dims[axis] == *len => steps[axis] as isize,
                Some(axis) if dims[axis] != 1 => return Err(error()),
                _ => 0,
            };
            axes.push((*len, step));
        }
        Ok(Self::new(axes.iter().copied(), 0))
    }

    /// Creates the view that repeats each axis a number of times; returns it with the dims of the result.
    ///
    /// # Errors
    /// Returns an error if the result is too large.
    pub fn tiled(dims: &[usize], multiples: &[usize]) -> Result<(Self, InlineList<usize>)> {
        let steps = strides(dims);
        let mut result = InlineList::new(0);
        for (dim, multiple) in dims.iter().zip(multiples) {
            let product = dim.checked_mul(*multiple);
            result.push(product.ok_or_else(|| {
                Error::Invalid(format!(
                    "{multiple} times a dimension of {dim} is too large"
                ))
            })?);
        }
        super::checked_len(&result)?;
        let axes = dims.iter().zip(multiples).zip(steps.iter());
        let axes =
            axes.flat_map(|((dim, multiple), step)| [(*multiple, 0), (*dim, *step as isize)]);
        Ok((Self::new(axes, 0), result))
    }

    /// Creates the view that reverses some axes.
    ///
    /// # Errors
    /// Returns an error if an axis does not exist or is given twice.
    pub fn reversed(dims: &[usize], reversed: impl Iterator<Item = i64>) -> Result<Self> {
        let steps = strides(dims);
        let mut is_reversed = InlineList::repeat(false, dims.len());
        for axis in reversed {
            let rank = dims.len();
            let out_of_range = |_| {
                let text =
                    format!("axis {axis} is out of valid range [0, {rank}), or below -{rank}");
                Error::Invalid(text)
            };
            let axis = super::resolve_axis(axis, rank).map_err(out_of_range)?;
            if std::mem::replace(&mut is_reversed[axis], true) {
                return Err(Error::AxisRepeated(axis));
            }
        }
        let mut offset = 0;
        let mut axes = InlineList::new((1, 0));
        for (axis, dim) in dims.iter().enumerate() {
            let step = steps[axis] as isize;
            if is_reversed[axis] && len(dims) > 0 {
                offset += (dim - 1) * steps[axis];
                axes.push((*dim, -step));
            } else {
                axes.push((*dim, step));
            }
        }
        Ok(Self::new(axes.iter().copied(), offset))
    }

    /// Returns the number of elements of the result.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the result has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns true if the result is the source, from its first element on.
    pub fn is_identity(&self) -> bool {
        matches!(&*self.axes, [Axis { step: 1, .. } | Axis { len: 1, .. }]) && self.offset == 0
    }

    /// Returns the view inside of the outermost axis if that axis repeats it, or `None`. A view of one axis is fast without,
    /// and a long one would be read from memory again.
    pub(super) fn repeated_part(&self) -> Option<Self> {
        const MAX_LEN: usize = 1 << 16;
        let (outermost, rest) = self.axes.split_first()?;
        let len = self.len / outermost.len;
        if outermost.step != 0 || rest.len() < 2 || len > MAX_LEN {
            return None;
        }
        let mut axes = InlineList::new(Axis { len: 1, step: 1 });
        rest.iter().for_each(|axis| axes.push(*axis));
        let offset = self.offset;
        Some(Self { axes, offset, len })
    }

    /// Panics if the view reads outside of a source of `len` elements.
    pub(super) fn check(&self, len: usize) {
        let (mut first, mut last) = (self.offset as i128, self.offset as i128);
        for axis in self.axes.iter() {
            let reach = (axis.len as i128 - 1) * axis.step as i128;
            first += reach.min(0);
            last += reach.max(0);
        }
        assert!(
            self.is_empty() || first >= 0 && last < len as i128,
            "a view outside of its source"
        );
    }

    /// Returns the innermost axis and the others.
    pub(super) fn split_inner(&self) -> (Axis, &[Axis]) {
        let inner = self.axes.len() - 1;
        (self.axes[inner], &self.axes[..inner])
    }

    /// Calls `visit(done, offset)` for `rows` runs of the innermost axis, from the row `first` on.
    #[inline(always)]
    pub(super) fn for_each_row(
        &self,
        first: usize,
        rows: usize,
        mut visit: impl FnMut(usize, usize),
    ) {
        let (_, outer) = self.split_inner();
        let Some((last, outer)) = outer.split_last() else {
            return visit(0, self.offset);
        };
        let mut counts = InlineList::repeat(0, outer.len());
        let (mut rest, mut start) = (first / last.len, self.offset);
        for (count, axis) in counts.iter_mut().zip(outer).rev() {
            *count = rest % axis.len;
            rest /= axis.len;
            start = start.wrapping_add_signed(*count as isize * axis.step);
        }
        let (mut done, mut row) = (0, first % last.len);
        while done < rows {
            let adjacent = (last.len - row).min(rows - done);
            let mut offset = start.wrapping_add_signed(row as isize * last.step);
            for row in done..done + adjacent {
                visit(row, offset);
                offset = offset.wrapping_add_signed(last.step);
            }
            (done, row) = (done + adjacent, 0);
            start = advance(&mut counts, outer, start);
        }
    }
}

/// Advances the counts of axes to the next iteration, and returns its offset.
#[inline]
fn advance(counts: &mut [usize], axes: &[Axis], start: usize) -> usize {
    let mut start = start;
    for (count, axis) in counts.iter_mut().zip(axes).rev() {
        *count += 1;
        start = start.wrapping_add_signed(axis.step);
        if *count < axis.len {
            break;
        }
        start = start.wrapping_add_signed(-(*count as isize * axis.step));
        *count = 0;
    }
    start
}

/// Adds the next inner axis; merges it with the last one if the steps continue.
fn push_axis(axes: &mut InlineList<Axis>, next: Axis) {
    if next.len == 1 {
        return;
    }
    match axes.last_mut() {
        Some(last) if last.step == next.step.wrapping_mul(next.len as isize) => {
            *last = Axis {
                len: last.len.wrapping_mul(next.len),
                step: next.step,
            }
        }
        _ => axes.push(next),
    }
}
