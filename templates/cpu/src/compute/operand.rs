//! Broadcast operands, read as slices in the order of the result.
//!
//! A loop over elements has one body for all shapes: it gets a slice of each operand. Elements that are repeated are copied
//! to a block first, unless the operand has a long run of them in order.

use super::shape::{Broadcast, Loop};

/// The largest number of elements that are read at a time from operands of different shapes. The blocks of two operands of
/// `f32` fit in the first cache beside the result.
const PART: usize = 2048;
/// The longest innermost loop of which a part has several runs.
const SHORT_RUN: usize = 256;
/// The lengths that shorter runs of one element are extended to: a fill of constant length is a few stores.
const FILLS: [usize; 2] = [8, 32];

/// One operand of a broadcast.
pub struct BroadcastOperand<'a, T, const N: usize> {
    plan: &'a Broadcast<N>,
    index: usize,
    data: &'a [T],
    order: Order,
    block: Vec<T>,
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

impl<'a, T: Copy, const N: usize> BroadcastOperand<'a, T, N> {
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
        let block = Vec::new();
        Self {
            plan,
            index,
            data,
            order,
            block,
        }
    }

    /// Returns the `count` elements for those of the result from `start` on, which are at most [`part_len`] many.
    ///
    /// # Panics
    /// Panics if there are not so many.
    #[inline]
    pub fn read(&mut self, start: usize, count: usize) -> &[T] {
        match self.order {
            Order::Whole => &self.data[start..start + count],
            Order::Cycle => self.read_cycle(start, count),
            Order::Rows => self.read_rows(start, count),
        }
    }

    #[inline(never)]
    fn read_cycle(&mut self, start: usize, count: usize) -> &[T] {
        let period = self.data.len();
        let first = if period == 1 { 0 } else { start % period };
        if period > SHORT_RUN {
            return &self.data[first..first + count];
        }
        if self.block.is_empty() {
            let longest = PART.min(self.plan.len()) + period;
            self.block = self.data.repeat(longest.div_ceil(period));
        }
        &self.block[first..first + count]
    }

    #[inline(never)]
    fn read_rows(&mut self, start: usize, count: usize) -> &[T] {
        // Code that writes uninitialized memory relies on the length of the slice, so it is never shorter.
        let (inner, outer) = self.plan.loops().split_last().expect("a plan has a loop");
        let (row, column) = (start / inner.len, start % inner.len);
        if inner.len <= SHORT_RUN {
            self.copy_short_rows(row, (column + count).div_ceil(inner.len));
            return &self.block[column..column + count];
        }
        let first = offset(outer, self.index, row);
        if inner.steps[self.index] == 1 {
            return &self.data[first + column..][..count];
        }
        self.block.clear();
        self.block.resize(count, self.data[first]);
        &self.block
    }

    /// Copies the elements of `count` runs of the innermost loop, from the run `first` on, to the block.
    fn copy_short_rows(&mut self, first: usize, count: usize) {
        let [outer @ .., rows, inner] = self.plan.loops() else {
            return;
        };
        // Each run is written as a longer one.
        self.block
            .resize(count * inner.len + FILLS[1], self.data[0]);
        let steps = [rows.steps[self.index], inner.steps[self.index]];
        let mut done = 0;
        while done < count {
            let (outer_row, row) = ((first + done) / rows.len, (first + done) % rows.len);
            let adjacent = (rows.len - row).min(count - done);
            let from = &self.data[offset(outer, self.index, outer_row) + row * steps[0]..];
            copy_runs(
                from,
                steps,
                inner.len,
                adjacent,
                &mut self.block[done * inner.len..],
            );
            done += adjacent;
        }
    }
}

/// Copies `count` runs of `len` elements, which begin `steps[0]` elements apart and consist of elements that are `steps[1]`
/// apart, 0 or 1. Overwrites some elements after them.
fn copy_runs<T: Copy>(from: &[T], steps: [usize; 2], len: usize, count: usize, to: &mut [T]) {
    for run in 0..count {
        let from = &from[run * steps[0]..];
        let to = &mut to[run * len..];
        match steps[1] {
            1 => to[..len].copy_from_slice(&from[..len]),
            _ if len <= FILLS[0] => to[..FILLS[0]].fill(from[0]),
            _ if len <= FILLS[1] => to[..FILLS[1]].fill(from[0]),
            _ => to[..len].fill(from[0]),
        }
    }
}

/// Returns the offset of the iteration `row` of these loops in an operand.
fn offset<const N: usize>(loops: &[Loop<N>], operand: usize, row: usize) -> usize {
    let mut rest = row;
    let mut offset = 0;
    for it in loops.iter().rev() {
        offset += rest % it.len * it.steps[operand];
        rest /= it.len;
    }
    offset
}

/// Returns the number of elements to read from each operand at a time, at most `count`, for the result from `start` on.
#[inline]
pub fn part_len<const N: usize>(plan: &Broadcast<N>, start: usize, count: usize) -> usize {
    if plan.is_of_equal_shapes() {
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
    use crate::compute::shape::len;

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
                let mut at = start.min(plan.len());
                while at < plan.len() {
                    let count = part_len(&plan, at, plan.len() - at);
                    assert_eq!(
                        operand.read(at, count),
                        &expected[at..at + count],
                        "{shapes:?}"
                    );
                    at += count;
                }
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
