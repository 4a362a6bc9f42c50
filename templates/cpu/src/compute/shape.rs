//! Broadcasting: converts the dims of N operands to the fewest loops over all elements.
//!
//! A kernel creates one [`Broadcast`] for each call; it has the dims of the result and the loops of `map`. Adjacent
//! dims with the same stride pattern in every operand become one loop: an operation on equal shapes is one loop, and
//! adding a bias is two.

use super::array;
use super::error::{Error, Result};
use super::inline::InlineList;

/// Returns the number of elements of a tensor with these dims; 1 for a scalar. The dims beside a 0 may be of any size.
pub fn len(dims: &[usize]) -> usize {
    dims.iter()
        .fold(1, |len: usize, dim| len.saturating_mul(*dim))
}

/// One loop: its length, and the stride of each operand (0 if the operand is repeated).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loop<const N: usize> {
    /// The number of iterations.
    pub len: usize,
    /// The stride of each operand, in elements.
    pub steps: [usize; N],
}

/// The broadcast of N row-major operands, by the rules of NumPy and TensorFlow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broadcast<const N: usize> {
    dims: InlineList<usize>,
    loops: InlineList<Loop<N>>,
    lens: [usize; N],
}

impl<const N: usize> Broadcast<N> {
    /// Creates the plan for operands with these dims.
    ///
    /// # Errors
    /// Returns [`Error::Incompatible`] if two dims differ and neither is 1.
    pub fn new(operands: [&[usize]; N]) -> Result<Self> {
        if operands.iter().all(|dims| *dims == operands[0]) {
            return Ok(Self::of_equal_shapes(operands[0]));
        }
        let rank = operands.iter().map(|dims| dims.len()).max().unwrap_or(0);
        let dim_at = |dims: &[usize], axis: usize| {
            (axis + dims.len()).checked_sub(rank).map_or(1, |i| dims[i])
        };
        let mut dims = InlineList::repeat(1, rank);
        for (i, operand) in operands.iter().enumerate() {
            for (axis, dim) in dims.iter_mut().enumerate() {
                match dim_at(operand, axis) {
                    1 => {}
                    size if *dim == 1 || *dim == size => *dim = size,
                    _ => return Err(incompatible(&operands, i)),
                }
            }
        }
        let lens = operands.map(len);
        let mut steps = [1; N];
        let single = Loop {
            len: 1,
            steps: [1; N],
        };
        let mut loops = InlineList::new(single);
        for axis in (0..rank).rev().filter(|axis| dims[*axis] != 1) {
            let sizes = operands.map(|operand| dim_at(operand, axis));
            let strides = array::from_fn(|i| if sizes[i] == 1 { 0 } else { steps[i] });
            push_loop(
                &mut loops,
                Loop {
                    len: dims[axis],
                    steps: strides,
                },
            );
            // The dims beside a 0 may be of any size; a result without elements reads no step.
            (0..N).for_each(|i| steps[i] = steps[i].saturating_mul(sizes[i]));
        }
        if loops.is_empty() {
            loops.push(single);
        }
        loops.reverse();
        Ok(Self { dims, loops, lens })
    }

    /// Creates the plan of operands that have the same shape: one loop over all elements.
    pub fn of_equal_shapes(shape: &[usize]) -> Self {
        let (len, steps) = (len(shape), [1; N]);
        let mut loops = InlineList::new(Loop { len, steps });
        loops.push(Loop { len, steps });
        let mut dims = InlineList::repeat(1, shape.len());
        dims.copy_from_slice(shape);
        let lens = [len; N];
        Self { dims, loops, lens }
    }

    /// Returns the dims of the result.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Returns the number of elements of the result.
    #[inline]
    pub fn len(&self) -> usize {
        len(&self.dims)
    }

    /// Returns true if the result has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if all operands have the elements of the result in one loop: none is repeated.
    #[inline]
    pub fn is_of_equal_shapes(&self) -> bool {
        self.loops.iter().all(|it| it.steps == [1; N])
    }

    /// Returns the number of elements of each operand.
    pub fn lens(&self) -> [usize; N] {
        self.lens
    }

    /// Returns the loops, outermost first; at least one. The strides of the innermost are 0 or 1.
    pub fn loops(&self) -> &[Loop<N>] {
        &self.loops
    }

    /// Returns the position of the element `start` of the result.
    #[inline]
    pub fn position(&self, start: usize) -> Position<N> {
        Position::new(&self.loops, start)
    }

    /// Visits the next `count` elements of the result as runs of the innermost loop, and advances `position`.
    ///
    /// Calls `visit(done, offsets, length)`: the elements visited before in this call, the offset of the run in each
    /// operand, and the length of the run.
    #[inline(always)]
    pub fn for_each_run(
        &self,
        position: &mut Position<N>,
        count: usize,
        mut visit: impl FnMut(usize, [usize; N], usize),
    ) {
        let Some((inner, outer)) = self.loops.split_last() else {
            return;
        };
        let mut done = 0;
        while done < count {
            let index = position.index;
            let length = (inner.len - index).min(count - done);
            visit(
                done,
                array::from_fn(|i| position.offsets[i] + index * inner.steps[i]),
                length,
            );
            done += length;
            position.index += length;
            if position.index == inner.len {
                position.index = 0;
                position.advance(outer);
            }
        }
    }
}

/// Returns the error with the shapes of operand `i` and of the first operand that it does not match.
fn incompatible<const N: usize>(operands: &[&[usize]; N], i: usize) -> Error {
    let differ = |a: &[usize], b: &[usize]| {
        a.iter()
            .rev()
            .zip(b.iter().rev())
            .any(|(a, b)| a != b && *a != 1 && *b != 1)
    };
    let other = (0..i)
        .find(|j| differ(operands[*j], operands[i]))
        .unwrap_or(0);
    Error::Incompatible(operands[other].to_vec(), operands[i].to_vec())
}

/// Adds the next outer loop; merges it with the last one if the strides of every operand continue.
fn push_loop<const N: usize>(loops: &mut InlineList<Loop<N>>, next: Loop<N>) {
    match loops.last_mut() {
        Some(last) if (0..N).all(|i| next.steps[i] == last.steps[i].saturating_mul(last.len)) => {
            last.len = last.len.saturating_mul(next.len)
        }
        _ => loops.push(next),
    }
}

/// The position of an element of the result in the loops.
#[derive(Clone, Debug)]
pub struct Position<const N: usize> {
    /// The index in the innermost loop.
    index: usize,
    /// The indices in the outer loops.
    counts: InlineList<usize>,
    /// The offset of the innermost loop in each operand.
    offsets: [usize; N],
}

impl<const N: usize> Position<N> {
    fn new(loops: &[Loop<N>], start: usize) -> Self {
        let mut this = Self {
            index: 0,
            counts: InlineList::repeat(0, loops.len().saturating_sub(1)),
            offsets: [0; N],
        };
        let Some((inner, outer)) = loops.split_last() else {
            return this;
        };
        this.index = start % inner.len.max(1);
        let mut rest = start / inner.len.max(1);
        for (count, outer_loop) in this.counts.iter_mut().zip(outer).rev() {
            *count = rest % outer_loop.len.max(1);
            rest /= outer_loop.len.max(1);
            (0..N).for_each(|i| this.offsets[i] += *count * outer_loop.steps[i]);
        }
        this
    }

    /// Advances to the next run of the innermost loop. It is compiled once, not with each visitor.
    #[inline(never)]
    fn advance(&mut self, outer: &[Loop<N>]) {
        for (count, outer_loop) in self.counts.iter_mut().zip(outer).rev() {
            *count += 1;
            (0..N).for_each(|i| self.offsets[i] += outer_loop.steps[i]);
            if *count < outer_loop.len {
                return;
            }
            (0..N).for_each(|i| self.offsets[i] -= *count * outer_loop.steps[i]);
            *count = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lens<const N: usize>(plan: &Broadcast<N>) -> Vec<usize> {
        plan.loops().iter().map(|l| l.len).collect()
    }

    #[test]
    fn common_shapes_merge_into_few_loops() {
        assert_eq!(
            lens(&Broadcast::new([&[2, 3, 4], &[2, 3, 4]]).unwrap()),
            [24]
        );
        assert_eq!(lens(&Broadcast::new([&[2, 3, 4], &[]]).unwrap()), [24]);
        assert_eq!(lens(&Broadcast::new([&[2, 3, 4], &[4]]).unwrap()), [6, 4]);
        assert_eq!(
            lens(&Broadcast::new([&[2, 3, 4], &[2, 1, 1]]).unwrap()),
            [2, 12]
        );
        assert_eq!(
            lens(&Broadcast::new([&[2, 1, 4], &[3, 1]]).unwrap()),
            [2, 3, 4]
        );
        assert_eq!(lens(&Broadcast::new([&[] as &[usize], &[]]).unwrap()), [1]);
    }

    #[test]
    fn broadcast_dims_match_numpy() {
        assert_eq!(
            Broadcast::new([&[5, 1, 4], &[3, 1]]).unwrap().dims(),
            [5, 3, 4]
        );
        assert_eq!(Broadcast::new([&[0, 3], &[1]]).unwrap().dims(), [0, 3]);
        assert_eq!(Broadcast::new([&[1], &[0]]).unwrap().dims(), [0]);
        assert_eq!(
            Broadcast::new([&[2], &[3, 1], &[1, 1, 1]]).unwrap().dims(),
            [1, 3, 2]
        );
    }

    #[test]
    fn dims_beside_a_zero_may_be_of_any_size() {
        let huge = 1 << 40;
        let plan = Broadcast::new([&[0, huge, huge, huge], &[huge, huge, huge]]).unwrap();
        assert_eq!(plan.dims(), [0, huge, huge, huge]);
        assert!(plan.is_empty());
        let plan = Broadcast::new([&[huge, 1, huge, 0], &[huge, huge, 1]]).unwrap();
        assert_eq!(plan.dims(), [huge, huge, huge, 0]);
        plan.for_each_run(&mut plan.position(0), 0, |_, _, _| unreachable!());
    }

    #[test]
    fn incompatible_shapes_are_both_in_error() {
        let error = Broadcast::new([&[2, 3], &[2, 4]]).unwrap_err();
        assert_eq!(error, Error::Incompatible(vec![2, 3], vec![2, 4]));
        assert_eq!(
            Broadcast::new([&[0], &[2]]).unwrap_err(),
            Error::Incompatible(vec![0], vec![2])
        );
        let error = Broadcast::new([&[1], &[3], &[2]]).unwrap_err();
        assert_eq!(error, Error::Incompatible(vec![3], vec![2]));
    }

    #[test]
    fn runs_from_any_position_match_runs_from_the_start() {
        let plan = Broadcast::new([&[2, 1, 4], &[3, 1]]).unwrap();
        let elements = |start: usize, count: usize| {
            let mut visited = Vec::new();
            plan.for_each_run(&mut plan.position(start), count, |done, offsets, length| {
                assert_eq!(done, visited.len());
                let steps = plan.loops().last().unwrap().steps;
                (0..length).for_each(|i| {
                    visited.push([offsets[0] + i * steps[0], offsets[1] + i * steps[1]])
                });
            });
            visited
        };
        let all = elements(0, 24);
        assert_eq!(all.len(), 24);
        for start in 0..24 {
            assert_eq!(elements(start, 24 - start), all[start..]);
        }
    }
}
