//! Broadcasting: from the dims of N operands to the fewest loops that visit all elements.
//!
//! A [`Broadcast`] is made once per call, tells the dims of the result, and drives `map`. Neighbouring dims that every operand
//! steps through alike become one loop, so a same-shape operation of any rank is a single loop, and a bias is two.

use super::error::{Error, Result};

/// How many elements a tensor of these dims has; 1 for a scalar.
pub fn len(dims: &[usize]) -> usize {
    dims.iter().product()
}

/// One loop: how many steps, and how far each operand moves per step (0: it is repeated).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loop<const N: usize> {
    /// How many steps.
    pub len: usize,
    /// Elements that each operand moves by.
    pub steps: [usize; N],
}

/// How N row-major operands are broadcast against each other, in NumPy's way, which is TensorFlow's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broadcast<const N: usize> {
    dims: Vec<usize>,
    loops: Vec<Loop<N>>,
    lens: [usize; N],
}

impl<const N: usize> Broadcast<N> {
    /// Plans for operands of these dims, of any rank.
    ///
    /// # Errors
    /// [`Error::Incompatible`] where two dims differ and neither is 1.
    pub fn new(operands: [&[usize]; N]) -> Result<Self> {
        let rank = operands.iter().map(|dims| dims.len()).max().unwrap_or(0);
        let at = |dims: &[usize], axis: usize| {
            (axis + dims.len()).checked_sub(rank).map_or(1, |i| dims[i])
        };
        let mut dims = vec![1; rank];
        for (i, operand) in operands.iter().enumerate() {
            for (axis, dim) in dims.iter_mut().enumerate() {
                match at(operand, axis) {
                    1 => {}
                    size if *dim == 1 || *dim == size => *dim = size,
                    _ => return Err(disagreement(&operands, i)),
                }
            }
        }
        let lens = operands.map(len);
        let mut steps = [1; N];
        let mut loops: Vec<Loop<N>> = Vec::new();
        for axis in (0..rank).rev().filter(|axis| dims[*axis] != 1) {
            let own = operands.map(|operand| at(operand, axis));
            let now = std::array::from_fn(|i| if own[i] == 1 { 0 } else { steps[i] });
            push(
                &mut loops,
                Loop {
                    len: dims[axis],
                    steps: now,
                },
            );
            (0..N).for_each(|i| steps[i] *= own[i]);
        }
        if loops.is_empty() {
            loops.push(Loop {
                len: 1,
                steps: [1; N],
            });
        }
        loops.reverse();
        Ok(Self { dims, loops, lens })
    }

    /// The dims of the result.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// How many elements the result has.
    pub fn len(&self) -> usize {
        len(&self.dims)
    }

    /// Whether the result has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many elements each operand has.
    pub fn lens(&self) -> [usize; N] {
        self.lens
    }

    /// The loops, outermost first; at least one. The innermost moves each operand by 0 or 1.
    pub fn loops(&self) -> &[Loop<N>] {
        &self.loops
    }

    /// The position of an element of the result, to visit elements from there on.
    pub fn position(&self, start: usize) -> Position<N> {
        Position::new(&self.loops, start)
    }

    /// Visits the next `count` elements of the result as runs of the innermost loop: `visit(done, offsets, length)`, where `done` counts
    /// elements of this call and `offsets` are where each operand's run begins. `position` moves on.
    #[inline(always)]
    pub fn runs(
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
            let at = position.at;
            let length = (inner.len - at).min(count - done);
            visit(
                done,
                std::array::from_fn(|i| position.offsets[i] + at * inner.steps[i]),
                length,
            );
            done += length;
            position.at += length;
            if position.at == inner.len {
                position.at = 0;
                position.advance(outer);
            }
        }
    }
}

/// Which operand `i` disagrees with, for the message.
fn disagreement<const N: usize>(operands: &[&[usize]; N], i: usize) -> Error {
    let clash = |a: &[usize], b: &[usize]| {
        a.iter()
            .rev()
            .zip(b.iter().rev())
            .any(|(a, b)| a != b && *a != 1 && *b != 1)
    };
    let other = (0..i)
        .find(|j| clash(operands[*j], operands[i]))
        .unwrap_or(0);
    Error::Incompatible(operands[other].to_vec(), operands[i].to_vec())
}

/// Adds the next outer loop, as part of the last one where every operand steps on evenly.
fn push<const N: usize>(loops: &mut Vec<Loop<N>>, next: Loop<N>) {
    match loops.last_mut() {
        Some(last) if (0..N).all(|i| next.steps[i] == last.steps[i] * last.len) => {
            last.len *= next.len
        }
        _ => loops.push(next),
    }
}

/// Where in the loops an element of the result is.
#[derive(Clone, Debug)]
pub struct Position<const N: usize> {
    /// In the innermost loop.
    at: usize,
    /// In the loops around it.
    counts: Vec<usize>,
    /// Where each operand's innermost loop begins.
    offsets: [usize; N],
}

impl<const N: usize> Position<N> {
    fn new(loops: &[Loop<N>], start: usize) -> Self {
        let mut this = Self {
            at: 0,
            counts: vec![0; loops.len().saturating_sub(1)],
            offsets: [0; N],
        };
        let Some((inner, outer)) = loops.split_last() else {
            return this;
        };
        this.at = start % inner.len.max(1);
        let mut rest = start / inner.len.max(1);
        for (count, each) in this.counts.iter_mut().zip(outer).rev() {
            *count = rest % each.len.max(1);
            rest /= each.len.max(1);
            (0..N).for_each(|i| this.offsets[i] += *count * each.steps[i]);
        }
        this
    }

    #[inline(always)]
    fn advance(&mut self, outer: &[Loop<N>]) {
        for (count, each) in self.counts.iter_mut().zip(outer).rev() {
            *count += 1;
            (0..N).for_each(|i| self.offsets[i] += each.steps[i]);
            if *count < each.len {
                return;
            }
            (0..N).for_each(|i| self.offsets[i] -= *count * each.steps[i]);
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
    fn the_common_shapes_are_few_loops() {
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
    fn dims_are_those_of_numpy() {
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
    fn a_clash_names_both_shapes() {
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
    fn runs_from_anywhere_agree_with_runs_from_the_start() {
        let plan = Broadcast::new([&[2, 1, 4], &[3, 1]]).unwrap();
        let elements = |start: usize, count: usize| {
            let mut seen = Vec::new();
            plan.runs(&mut plan.position(start), count, |done, at, length| {
                assert_eq!(done, seen.len());
                let steps = plan.loops().last().unwrap().steps;
                (0..length).for_each(|i| seen.push([at[0] + i * steps[0], at[1] + i * steps[1]]));
            });
            seen
        };
        let all = elements(0, 24);
        assert_eq!(all.len(), 24);
        for start in 0..24 {
            assert_eq!(elements(start, 24 - start), all[start..]);
        }
    }
}
