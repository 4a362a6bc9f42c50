//! Copies between a contiguous tensor and one with any strides: transposed, repeated, diagonals.

use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::inline::InlineList;
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::machine::shape::len;

/// The strides of a row-major tensor with these dims, in elements.
pub fn strides(dims: &[usize]) -> InlineList<usize> {
    let mut strides = InlineList::repeat(1_usize, dims.len());
    for axis in (1..dims.len()).rev() {
        // Those of an empty tensor are not used, and its dims may be of any size.
        strides[axis - 1] = strides[axis].wrapping_mul(dims[axis].max(1));
    }
    strides
}

/// The number of rows that a transposition reads together, so that it uses whole cache lines.
const TILE: usize = 16;

/// A tensor with any strides, as loops: outer ones, outermost first, and the innermost.
struct View {
    outer: InlineList<[usize; 2]>,
    inner: [usize; 2],
}

impl View {
    /// Creates the loops `[length, stride]`, adjacent ones merged if possible.
    fn new(dims: &[usize], strides: &[usize]) -> Self {
        let mut outer: InlineList<[usize; 2]> = InlineList::new([0; 2]);
        let mut inner = [1, 0];
        for (dim, stride) in dims.iter().zip(strides).filter(|(dim, _)| **dim != 1) {
            if inner[0] == 1 {
                inner = [*dim, *stride];
            } else if inner[1] == dim * stride {
                inner = [inner[0] * dim, *stride];
            } else {
                outer.push(inner);
                inner = [*dim, *stride];
            }
        }
        Self { outer, inner }
    }

    /// Returns the offset of a row.
    fn offset(&self, mut row: usize) -> usize {
        let mut offset = 0;
        for [len, stride] in self.outer.iter().rev() {
            offset += row % len * stride;
            row /= len;
        }
        offset
    }

    /// Returns the number of rows from `row` on whose elements are adjacent.
    fn adjacent_rows(&self, row: usize, count: usize) -> usize {
        match self.outer.last() {
            Some([len, 1]) => (len - row % len).min(count).min(TILE),
            _ => 1,
        }
    }
}

/// Copies the elements of a tensor with these strides into a contiguous one: `out[i, j, ..] = x[i * strides[0] + j *
/// strides[1] + ..]`.
///
/// # Panics
/// Panics if `out` has another length than `dims`, or an element is not in `x`.
pub fn gather<T: Copy + Send + Sync>(dims: &[usize], strides: &[usize], x: &[T], out: &mut [T]) {
    assert_eq!(
        out.len(),
        len(dims),
        "the result differs in length from its dims"
    );
    if out.is_empty() {
        return;
    }
    let view = View::new(dims, strides);
    let [width, step] = view.inner;
    for_each_row_chunk(out, width, cost::Cheap.grain(), |first, out| {
        if step == 1 {
            for (row, out) in out.chunks_exact_mut(width).enumerate() {
                out.copy_from_slice(&x[view.offset(first + row)..][..width]);
            }
            return;
        }
        let (mut row, rows) = (0, out.len() / width);
        while row < rows {
            let count = view.adjacent_rows(first + row, rows - row);
            let x = &x[view.offset(first + row)..];
            for j in 0..width {
                let from = &x[j * step..j * step + count];
                for (i, from) in from.iter().enumerate() {
                    out[(row + i) * width + j] = *from;
                }
            }
            row += count;
        }
    });
}

/// Copies the elements of a contiguous tensor into one with these strides, the inverse of [`gather`].
///
/// # Panics
/// Panics if `x` has another length than `dims`, or an element is not in `out`.
pub fn scatter<T: Copy>(dims: &[usize], strides: &[usize], x: &[T], out: &mut [T]) {
    assert_eq!(
        x.len(),
        len(dims),
        "the operand differs in length from its dims"
    );
    if x.is_empty() {
        return;
    }
    let view = View::new(dims, strides);
    let [width, step] = view.inner;
    for (row, x) in x.chunks_exact(width).enumerate() {
        let start = view.offset(row);
        x.iter()
            .enumerate()
            .for_each(|(i, x)| out[start + i * step] = *x);
    }
}

/// Copies a tensor with its axes in another order: axis `i` of the result is axis `order[i]` of `x`.
///
/// # Panics
/// Panics if `x` or `out` has another length than `dims`, or `order` has another length or an axis that `dims` lacks.
pub fn permute<T: Copy + Send + Sync>(dims: &[usize], order: &[usize], x: &[T], out: &mut [T]) {
    assert_eq!(
        [x.len(), order.len()],
        [len(dims), dims.len()],
        "the operand differs from its dims"
    );
    let strides = strides(dims);
    let (mut out_dims, mut steps) = (InlineList::new(0), InlineList::new(0));
    for axis in order {
        out_dims.push(dims[*axis]);
        steps.push(strides[*axis]);
    }
    gather(&out_dims, &steps, x, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::oracle::coordinates;
    use proptest::prelude::*;

    fn dims_and_order() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
        proptest::collection::vec(
            prop_oneof![1 => Just(0_usize), 4 => Just(1), 12 => 2..40_usize],
            0..5,
        )
        .prop_filter("small", |dims| dims.iter().product::<usize>() < 100_000)
        .prop_flat_map(|dims| {
            let order: Vec<usize> = (0..dims.len()).collect();
            (Just(dims), Just(order).prop_shuffle())
        })
    }

    proptest! {
        #[test]
        fn permute_matches_oracle_and_scatter_inverts_it((dims, order) in dims_and_order()) {
            let x: Vec<usize> = (0..len(&dims)).collect();
            let out_dims: Vec<usize> = order.iter().map(|axis| dims[*axis]).collect();
            let source_index = |at: &Vec<usize>| {
                let mut source = vec![0; dims.len()];
                order.iter().zip(at).for_each(|(axis, at)| source[*axis] = *at);
                source.iter().zip(&dims).fold(0, |index, (at, dim)| index * dim + at)
            };
            let expected: Vec<usize> = coordinates(&out_dims).iter().map(source_index).collect();
            let mut out = vec![usize::MAX; x.len()];
            permute(&dims, &order, &x, &mut out);
            prop_assert_eq!(&out, &expected);
            let steps: Vec<usize> = order.iter().map(|axis| strides(&dims)[*axis]).collect();
            let mut back = vec![usize::MAX; x.len()];
            scatter(&out_dims, &steps, &out, &mut back);
            prop_assert_eq!(back, x);
        }
    }

    #[test]
    fn gather_reads_diagonals_and_repeated_elements() {
        let mut diagonal = [0; 3];
        gather(&[3], &[4], &[1, 2, 3, 4, 5, 6, 7, 8, 9], &mut diagonal);
        assert_eq!(diagonal, [1, 5, 9]);
        let mut repeated = [0; 6];
        gather(&[2, 3], &[0, 1], &[1, 2, 3], &mut repeated);
        assert_eq!(repeated, [1, 2, 3, 1, 2, 3]);
    }

    #[test]
    fn dims_of_empty_tensor_may_be_of_any_size() {
        let many = 1 << 40;
        permute(&[0, many, many], &[0, 2, 1], &[] as &[f32], &mut []);
    }
}
