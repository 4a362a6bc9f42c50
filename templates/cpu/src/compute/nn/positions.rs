//! The positions of elements in windows: of the largest one, and of one that equals a result. Tensors are in the order
//! batch, planes, rows, columns, channels. An image is a volume of one plane.

use super::window::{Slide, Windows};
use crate::compute::arith::Number;
use crate::compute::parallel::for_each_row_chunk;
use crate::compute::{Result, len};

/// The number of elements read in a task.
const GRAIN: usize = 64 * 1024;

/// Windows over images or volumes.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    batch: usize,
    windows: [Windows; 3],
    channels: usize,
}

impl Grid {
    /// Creates the windows of `size` planes, rows and columns.
    ///
    /// # Errors
    /// Returns [`Error::WindowTooLarge`](crate::compute::Error).
    pub fn new(input: [usize; 5], size: [usize; 3], slides: [Slide; 3]) -> Result<Self> {
        let windows = |i: usize| Windows::new(input[i + 1], size[i], slides[i]);
        Ok(Self {
            batch: input[0],
            windows: [windows(0)?, windows(1)?, windows(2)?],
            channels: input[4],
        })
    }

    /// Creates the windows of `size` rows and columns over images.
    ///
    /// # Errors
    /// Returns [`Error::WindowTooLarge`](crate::compute::Error).
    pub fn of_images(input: [usize; 4], size: [usize; 2], slides: [Slide; 2]) -> Result<Self> {
        let [batch, rows, columns, channels] = input;
        let [row_slide, column_slide] = slides;
        Self::new(
            [batch, 1, rows, columns, channels],
            [1, size[0], size[1]],
            [Slide::NONE, row_slide, column_slide],
        )
    }

    /// Returns the dims of the input.
    pub fn input(&self) -> [usize; 5] {
        let [planes, rows, columns] = self.windows.map(|it| it.input);
        [self.batch, planes, rows, columns, self.channels]
    }

    /// Returns the dims of a tensor with an element for each window and channel.
    pub fn output(&self) -> [usize; 5] {
        let [planes, rows, columns] = self.windows.map(|it| it.output);
        [self.batch, planes, rows, columns, self.channels]
    }

    /// Returns the number of elements of an input image or volume.
    pub fn image(&self) -> usize {
        len(&self.input()[1..])
    }

    /// Stores, for a window, the indices of the first channels of its elements that are not padding.
    fn find(&self, window: usize, elements: &mut Vec<usize>) {
        let [planes, rows, columns] = &self.windows;
        let (line, x) = (window / columns.output, window % columns.output);
        let (line, y) = (line / rows.output, line % rows.output);
        let (image, z) = (line / planes.output, line % planes.output);
        let [insides_z, insides_y, insides_x] =
            [planes.inside(z), rows.inside(y), columns.inside(x)].map(|(first, end)| first..end);
        elements.clear();
        for k in insides_z {
            let plane = image * planes.input + planes.element(z, k);
            for i in insides_y.clone() {
                let row = (plane * rows.input + rows.element(y, i)) * columns.input;
                let column = |j| (row + columns.element(x, j)) * self.channels;
                elements.extend(insides_x.clone().map(column));
            }
        }
    }

    /// Writes `find(elements of the window, channel, index of the result)` for each window and channel.
    fn map<U: Send>(&self, out: &mut [U], find: impl Fn(&[usize], usize, usize) -> U + Sync) {
        assert_eq!(
            out.len(),
            len(&self.output()),
            "result and plan differ in length"
        );
        if out.is_empty() {
            return;
        }
        let size: usize = self
            .windows
            .iter()
            .map(|it| it.size.min(it.input))
            .product();
        for_each_row_chunk(out, self.channels, GRAIN / size.max(1), |first, out| {
            let mut elements = Vec::new();
            for (index, out) in out.chunks_exact_mut(self.channels).enumerate() {
                self.find(first + index, &mut elements);
                for (channel, out) in out.iter_mut().enumerate() {
                    *out = find(
                        &elements,
                        channel,
                        (first + index) * self.channels + channel,
                    );
                }
            }
        });
    }
}

/// Finds the first largest element of each window: its index in the tensor. NaN is the largest only as the first element.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn find_largest<T: Number>(grid: &Grid, x: &[T], positions: &mut [usize]) {
    assert_eq!(
        x.len(),
        len(&grid.input()),
        "operand and plan differ in length"
    );
    grid.map(positions, |elements, channel, _| {
        let mut elements = elements.iter().map(|it| it + channel);
        let first = elements.next().unwrap_or(0);
        elements.fold(first, |best, it| if x[it] > x[best] { it } else { best })
    });
}

/// Writes, for each window, the element of `dx` where the first element of `x` equals the window's result in `y`; 0 if
/// none does. It is the derivative of the gradient of maxima.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn select_equal<T: Number>(grid: &Grid, [x, dx]: [&[T]; 2], y: &[T], out: &mut [T]) {
    let input = len(&grid.input());
    assert_eq!(
        [x.len(), dx.len()],
        [input; 2],
        "operand and plan differ in length"
    );
    grid.map(out, |elements, channel, result| {
        let mut elements = elements.iter().map(|it| it + channel);
        let found = elements.find(|it| x[*it] == y[result]);
        found.map_or(T::ZERO, |it| dx[it])
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::nn::window::Padding;
    use crate::compute::oracle::coordinates;
    use proptest::prelude::*;

    /// Returns the indices in the input of a window's elements.
    fn elements(grid: &Grid, at: &[usize], size: [usize; 3]) -> Vec<usize> {
        let index = |k: &Vec<usize>| {
            let windows = grid.windows.iter().zip(&at[1..4]).zip(k);
            let spatial: Option<Vec<usize>> = windows.map(|((w, o), k)| w.index(*o, *k)).collect();
            let dims = grid.input();
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
            let Ok(grid) = Grid::new(input.into(), size, slides) else { return Ok(()) };
            let x: Vec<i64> = (0..len(&grid.input()) as i64).map(|i| i * 7919 % 5).collect();
            let dx: Vec<i64> = (1..=x.len() as i64).collect();
            let mut positions = vec![0; len(&grid.output())];
            find_largest(&grid, &x, &mut positions);
            let y: Vec<i64> = positions.iter().enumerate().map(|(i, at)| x[*at] + i64::from(i % 4 == 3) * 99).collect();
            let mut selected = vec![7; y.len()];
            select_equal(&grid, [&x, &dx], &y, &mut selected);
            for (o, at) in coordinates(&grid.output()).iter().enumerate() {
                let all = elements(&grid, at, size);
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
        let grid = Grid::of_images([1, 1, 4, 1], [1, 2], [Slide::NONE, slide]).unwrap();
        let mut positions = [0; 2];
        find_largest(&grid, &[f64::NAN, 1.0, 1.0, f64::NAN], &mut positions);
        assert_eq!(positions, [0, 2]);
    }
}
