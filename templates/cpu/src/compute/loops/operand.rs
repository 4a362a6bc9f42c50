//! Broadcast operands, read as slices in the order of the result.
//!
//! A loop over elements has one body for all shapes: it gets a slice of each operand. Elements that are repeated are copied
//! to a block first, unless the operand has a long run of them in order.
//!
//! With a body for each pair of steps, the code of each function would be compiled three times for each instruction
//! set.
//!
//! Rows of few elements are computed several at a time, since a loop over 3 to 16 elements has more overhead than
//! work. So do the functions of a bias and of softmax.

use crate::compute::machine::runs::{copy_run, repeat};
use crate::compute::machine::shape::{Broadcast, Loop, offset_of_iteration};
use crate::compute::machine::workspace::{AnyBits, Buffer};
use std::iter;
use std::ops::Range;

/// The largest number of elements that are read at a time from operands of different shapes. The blocks of two operands of
/// `f32` fit in the first cache beside the result.
const PART: usize = 2048;
/// The longest innermost loop of which a part has several runs.
const SHORT_RUN: usize = 256;

/// One operand of a broadcast.
pub struct BroadcastOperand<'a, T: AnyBits, const N: usize> {
    plan: &'a Broadcast<N>,
    index: usize,
    data: &'a [T],
    order: Order,
    block: Option<Buffer<T>>,
}

/// The order of an operand's elements in the result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Each element once.
    Whole,
    /// All elements in order, repeated, such as those of a bias.
    Cycle,
    /// Another order, such as the elements of a column, each several times.
    Rows,
}

impl<'a, T: AnyBits, const N: usize> BroadcastOperand<'a, T, N> {
    /// Creates the operand `index` of a plan whose result has elements.
    ///
    /// # Panics
    /// Panics if the operand has another length than in the plan.
    pub fn new(plan: &'a Broadcast<N>, index: usize, data: &'a [T]) -> Self {
        assert_eq!(
            data.len(),
            plan.lens()[index],
            "operand differs in length from the plan"
        );
        let is_run = |inner: &Loop<N>| inner.steps[index] == 1 && inner.len == data.len();
        let order = match data.len() {
            len if len == plan.len() => Order::Whole,
            1 => Order::Cycle,
            _ if plan.loops().last().is_some_and(is_run) => Order::Cycle,
            _ => Order::Rows,
        };
        Self {
            plan,
            index,
            data,
            order,
            block: None,
        }
    }

    /// Returns the elements for a part of the result, one of [`parts`].
    ///
    /// # Panics
    /// Panics if there are not so many.
    #[inline]
    pub fn read(&mut self, part: Range<usize>) -> &[T] {
        match self.order {
            Order::Whole => &self.data[part],
            Order::Cycle => self.read_cycle(part.start, part.len()),
            Order::Rows => self.read_rows(part.start, part.len()),
        }
    }

    /// Calls `visit` with the elements for each part of a range of the result, and their indices in the range.
    pub fn for_each_part(
        &mut self,
        range: Range<usize>,
        mut visit: impl FnMut(Range<usize>, &[T]),
    ) {
        for part in parts(self.plan, range.clone()) {
            let indices = part.start - range.start..part.end - range.start;
            visit(indices, self.read(part));
        }
    }

    #[inline(never)]
    fn read_cycle(&mut self, start: usize, count: usize) -> &[T] {
        let period = self.data.len();
        let first = if period == 1 { 0 } else { start % period };
        if period > SHORT_RUN {
            return &self.data[first..first + count];
        }
        let block = self.block.get_or_insert_with(|| {
            let mut block = Buffer::new(PART.min(self.plan.len()) + period);
            repeat(self.data, &mut block);
            block
        });
        &block[first..first + count]
    }

    #[inline(never)]
    fn read_rows(&mut self, start: usize, count: usize) -> &[T] {
        // Code that writes uninitialized memory relies on the length of the slice, so it is never shorter.
        let (inner, outer) = self.plan.loops().split_last().expect("a plan has a loop");
        let (row, column) = (start / inner.len, start % inner.len);
        if inner.len <= SHORT_RUN {
            let block = self.copy_short_rows(row, (column + count).div_ceil(inner.len));
            return &block[column..column + count];
        }
        let first = offset_of_iteration(outer, self.index, row);
        if inner.steps[self.index] == 1 {
            return &self.data[first + column..][..count];
        }
        let block = block_of_len(&mut self.block, count);
        block[..count].fill(self.data[first]);
        &block[..count]
    }

    /// Copies the elements of `count` runs of the innermost loop, from the run `first` on, to the start of the block, and returns
    /// the block.
    fn copy_short_rows(&mut self, first: usize, count: usize) -> &[T] {
        let [outer @ .., rows, inner] = self.plan.loops() else {
            unreachable!("an operand in one loop is read in order");
        };
        let block = block_of_len(&mut self.block, count * inner.len);
        let [step, inner_step] = [rows, inner].map(|it| it.steps[self.index]);
        let mut done = 0;
        while done < count {
            let (outer_row, row) = ((first + done) / rows.len, (first + done) % rows.len);
            let adjacent = (rows.len - row).min(count - done);
            let from = offset_of_iteration(outer, self.index, outer_row) + row * step;
            for run in 0..adjacent {
                let to = &mut block[(done + run) * inner.len..];
                copy_run(
                    &self.data[from + run * step..],
                    inner_step == 0,
                    inner.len,
                    to,
                );
            }
            done += adjacent;
        }
        block
    }
}

/// Returns the block with `len` elements or more, a new one if it is shorter.
fn block_of_len<T: AnyBits>(block: &mut Option<Buffer<T>>, len: usize) -> &mut [T] {
    if block.as_ref().is_some_and(|it| it.len() < len) {
        *block = None;
    }
    block.get_or_insert_with(|| Buffer::new(len))
}

/// Returns the parts of a range of the result, for which operands are read at a time.
pub fn parts<const N: usize>(
    plan: &Broadcast<N>,
    range: Range<usize>,
) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    iter::from_fn(move || {
        let part = start..start + part_len(plan, start, range.end - start);
        start = part.end;
        (!part.is_empty()).then_some(part)
    })
}

/// Returns the length of the part from `start` on, at most `count`.
fn part_len<const N: usize>(plan: &Broadcast<N>, start: usize, count: usize) -> usize {
    if count == 0 || plan.is_of_equal_shapes() {
        return count;
    }
    let inner = plan.loops().last().map_or(1, |it| it.len);
    let run = match inner <= SHORT_RUN {
        true => PART,
        false => inner - start % inner,
    };
    count.min(run).min(PART)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::machine::shape::len;

    /// Returns the index in an operand for each element of the result, by its coordinates.
    fn indices(dims: &[usize], operand: &[usize]) -> Vec<usize> {
        let index = |at: usize| {
            let (mut rest, mut index, mut stride) = (at, 0, 1);
            for (axis, dim) in dims.iter().enumerate().rev() {
                let own = (axis + operand.len()).checked_sub(dims.len());
                let own = own.map_or(1, |axis| operand[axis]);
                index += if own == 1 { 0 } else { rest % dim * stride };
                (rest, stride) = (rest / dim, stride * own);
            }
            index
        };
        (0..len(dims)).map(index).collect()
    }

    fn check(shapes: [&[usize]; 2]) {
        let plan = Broadcast::new(shapes).unwrap();
        for (index, shape) in shapes.iter().enumerate() {
            let data: Vec<usize> = (0..len(shape)).collect();
            let expected = indices(plan.dims(), shape);
            for start in [0, 1, 7, plan.len() / 2] {
                let mut operand = BroadcastOperand::new(&plan, index, &data);
                let range = start.min(plan.len())..plan.len();
                let mut found = Vec::new();
                operand.for_each_part(range.clone(), |indices, part| {
                    assert_eq!(indices, found.len()..found.len() + part.len());
                    found.extend_from_slice(part);
                });
                assert_eq!(found, expected[range], "{shapes:?}");
            }
        }
    }

    #[test]
    fn parts_are_elements_in_order_of_result() {
        check([&[5, 7], &[5, 7]]);
        check([&[40, 100], &[]]);
        check([&[900, 3], &[3]]);
        check([&[900, 3], &[900, 1]]);
        check([&[900, 9], &[900, 1]]);
        check([&[70, 100], &[70, 1]]);
        check([&[9, 300], &[9, 1]]);
        check([&[2, 5000], &[5000]]);
        check([&[2, 5000], &[2, 1]]);
        check([&[30, 1, 40], &[20, 1]]);
        check([&[3, 1, 4, 1, 5], &[2, 1, 6, 1]]);
        check([&[3, 1, 400], &[5, 1]]);
        check([&[1], &[3000]]);
    }
}
