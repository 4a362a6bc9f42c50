//! The positions of elements in windows: of the largest one, and of one that equals a result. Tensors are in the order
//! batch, planes, rows, columns, channels. An image is a volume of one plane.

use super::Pool;
use super::windows::Elements;
use crate::compute::len;
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::scalar::arith::Number;

/// The number of elements read in a task.
const GRAIN: usize = 64 * 1024;

impl Pool {
    /// Writes `find(elements of the window, offset, index of the result)` for each window and channel. An element's index in
    /// the tensor is that in the window plus the offset.
    fn map_windows<U: Send>(
        &self,
        out: &mut [U],
        find: impl Fn(&Elements, usize, usize) -> U + Sync,
    ) {
        let dims = self.output_3d();
        assert_eq!(out.len(), len(&dims), "result and plan differ in length");
        if out.is_empty() {
            return;
        }
        let [_, planes, rows, columns, channels] = dims;
        let grain = GRAIN / self.most_elements().max(1);
        for_each_row_chunk(out, channels, grain, |first, out| {
            let mut elements = Elements::default();
            for (index, out) in out.chunks_exact_mut(channels).enumerate() {
                let window = first + index;
                let (line, x) = (window / columns, window % columns);
                let [z, y] = self.row_of_windows(line % (planes * rows));
                self.find([z, y, x], &mut elements);
                let image = line / (planes * rows) * self.image();
                for (channel, out) in out.iter_mut().enumerate() {
                    *out = find(&elements, image + channel, window * channels + channel);
                }
            }
        });
    }
}

/// Finds the first largest element of each window: its index in the tensor. NaN is the largest only as the first element.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn find_largest<T: Number>(plan: &Pool, x: &[T], positions: &mut [usize]) {
    let input = len(&plan.input_3d());
    assert_eq!(x.len(), input, "operand and plan differ in length");
    plan.map_windows(positions, |elements, offset, _| {
        let mut largest = None;
        elements.for_each(|at| {
            let at = at + offset;
            if largest.is_none_or(|largest: usize| x[at] > x[largest]) {
                largest = Some(at);
            }
        });
        largest.unwrap_or(0)
    });
}

/// Writes, for each window, the element of `dx` where the first element of `x` equals the window's result in `y`; 0 if
/// none does. It is the derivative of the gradient of maxima.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn select_equal<T: Number>(plan: &Pool, [x, dx]: [&[T]; 2], y: &[T], out: &mut [T]) {
    let lens = [len(&plan.input_3d()); 2];
    assert_eq!(
        [x.len(), dx.len()],
        lens,
        "operand and plan differ in length"
    );
    plan.map_windows(out, |elements, offset, result| {
        let mut found = None;
        elements.for_each(|at| {
            if found.is_none() && x[at + offset] == y[result] {
                found = Some(at + offset);
            }
        });
        found.map_or(T::ZERO, |at| dx[at])
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::ops::nn::window::{Padding, Slide};
    use crate::compute::oracle::coordinates;
    use proptest::prelude::*;

    /// Returns the indices in the input of a window's elements.
    fn elements(plan: &Pool, at: &[usize], size: [usize; 3]) -> Vec<usize> {
        let index = |k: &Vec<usize>| {
            let windows = plan.windows().into_iter().zip(&at[1..4]).zip(k);
            let spatial: Option<Vec<usize>> = windows.map(|((w, o), k)| w.index(*o, *k)).collect();
            let dims = plan.input_3d();
            let full = [vec![at[0]], spatial?, vec![at[4]]].concat();
            Some(
                full.iter()
                    .zip(dims)
                    .fold(0, |sum, (at, dim)| sum * dim + at),
            )
        };
        coordinates(&size).iter().filter_map(index).collect()
    }

    proptest! {
        #[test]
        fn positions_match_oracle(
            input in (0..3_usize, 1..4_usize, 1..6_usize, 1..6_usize, 0..4_usize),
            size in [1..3_usize, 1..4_usize, 1..4_usize],
            stride in [1..3_usize, 1..4_usize, 1..4_usize],
            is_same in any::<bool>(),
        ) {
            let padding = if is_same { Padding::Same } else { Padding::Valid };
            let slides = stride.map(|stride| Slide { stride, dilation: 1, padding });
            let Ok(plan) = Pool::new_3d(input.into(), size, slides) else { return Ok(()) };
            let x: Vec<i64> = (0..len(&plan.input_3d()) as i64).map(|i| i * 7919 % 5).collect();
            let dx: Vec<i64> = (1..=x.len() as i64).collect();
            let mut positions = vec![0; len(&plan.output_3d())];
            find_largest(&plan, &x, &mut positions);
            let y: Vec<i64> = positions.iter().enumerate().map(|(i, at)| x[*at] + i64::from(i % 4 == 3) * 99).collect();
            let mut selected = vec![7; y.len()];
            select_equal(&plan, [&x, &dx], &y, &mut selected);
            for (o, at) in coordinates(&plan.output_3d()).iter().enumerate() {
                let all = elements(&plan, at, size);
                let best = all.iter().map(|it| x[*it]).max().unwrap();
                let first = *all.iter().find(|it| x[**it] == best).unwrap();
                prop_assert_eq!(positions[o], first);
                prop_assert_eq!(selected[o], if o % 4 == 3 { 0 } else { dx[first] });
            }
        }
    }

    #[test]
    fn nan_is_the_largest_only_as_the_first_element() {
        let slide = Slide {
            stride: 2,
            dilation: 1,
            padding: Padding::Valid,
        };
        let plan = Pool::new([1, 1, 4, 1], [1, 2], [Slide::NONE, slide]).unwrap();
        let mut positions = [0; 2];
        find_largest(&plan, &[f64::NAN, 1.0, 1.0, f64::NAN], &mut positions);
        assert_eq!(positions, [0, 2]);
    }
}
