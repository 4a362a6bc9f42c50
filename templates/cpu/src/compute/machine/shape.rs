//! Broadcasting: converts the dims of N operands to the fewest loops over all elements.
//!
//! A kernel creates one [`Broadcast`] for each call; it has the dims of the result and the loops of `map`. Adjacent
//! dims with the same stride pattern in every operand become one loop: an operation on equal shapes is one loop, and
//! adding a bias is two.

use crate::compute::machine::array;
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::inline::InlineList;

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

/// Returns the offset in an operand of the iteration `index` of all of these loops.
pub(in crate::compute) fn offset_of_iteration<const N: usize>(
    loops: &[Loop<N>],
    operand: usize,
    index: usize,
) -> usize {
    let (mut rest, mut offset) = (index, 0);
    for it in loops.iter().rev() {
        offset += rest % it.len * it.steps[operand];
        rest /= it.len;
    }
    offset
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
    fn offsets_of_iterations_are_those_of_the_coordinates() {
        let plan = Broadcast::new([&[2, 1, 4], &[3, 1]]).unwrap();
        let offsets = |operand| -> Vec<usize> {
            let loops = plan.loops();
            (0..24)
                .map(|it| offset_of_iteration(loops, operand, it))
                .collect()
        };
        let first = |it: usize| it / 12 * 4 + it % 4;
        assert_eq!(offsets(0), (0..24).map(first).collect::<Vec<_>>());
        assert_eq!(offsets(1), (0..24).map(|it| it / 4 % 3).collect::<Vec<_>>());
    }
}
