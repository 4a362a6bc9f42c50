//! Grayscale dilation: the largest sum of elements of a window and of a filter, and its gradients. Tensors are in the order
//! batch, rows, columns, channels; a filter has rows, columns and channels.

use super::pool::Pool;
use super::window::{Slide, Windows};
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::scalar::arith::Number;
use crate::compute::{Result, len};

/// The windows of a dilation, which have the dims of those of a pool.
#[derive(Clone, Copy, Debug)]
pub struct Dilation {
    windows: Pool,
}

/// The largest sum of a window: its value, and the indices of its terms in the input and in the filter.
#[derive(Clone, Copy)]
struct Largest<T> {
    value: T,
    input: usize,
    filter: usize,
}

impl Dilation {
    /// Plans windows of the rows and columns of a filter.
    ///
    /// # Errors
    /// Returns [`Error::WindowTooLarge`](crate::compute::Error).
    pub fn new(input: [usize; 4], filter: [usize; 2], slides: [Slide; 2]) -> Result<Self> {
        let windows = Pool::new(input, filter, slides)?;
        Ok(Self { windows })
    }

    /// Returns the dims of the result.
    pub fn output(&self) -> [usize; 4] {
        self.windows.output()
    }

    /// Returns the number of elements of the filter.
    fn filter(&self) -> usize {
        let [_, rows, columns] = self.windows.windows();
        rows.size * columns.size * self.windows.input()[3]
    }

    fn check<T>(&self, x: &[T], filter: &[T], result: &[T]) {
        let lens = [
            len(&self.windows.input()),
            self.filter(),
            len(&self.output()),
        ];
        let found = [x.len(), filter.len(), result.len()];
        assert_eq!(found, lens, "a tensor differs in length from the plan");
    }

    /// Finds the first largest sum of which `index` is the result. Without a sum above `lowest` it is that of the first
    /// element of the window that is not padding, and the first one of the filter.
    fn find<T: Number>(&self, lowest: T, x: &[T], filter: &[T], index: usize) -> Largest<T> {
        let [_, rows, columns] = self.windows.windows();
        let [.., channels] = self.windows.input();
        let (pixel, channel) = (index / channels, index % channels);
        let (line, column) = (pixel / columns.output, pixel % columns.output);
        let (image, row) = (line / rows.output, line % rows.output);
        let at = |y: usize, x: usize| {
            ((image * rows.input + y) * columns.input + x) * channels + channel
        };
        let first =
            |windows: &Windows, o: usize| (o * windows.stride).saturating_sub(windows.before);
        let mut largest = Largest {
            value: lowest,
            input: at(first(rows, row), first(columns, column)),
            filter: channel,
        };
        let ((top, bottom), (left, right)) = (rows.inside(row), columns.inside(column));
        for i in top..bottom {
            for j in left..right {
                let input = at(rows.element(row, i), columns.element(column, j));
                let filter_index = (i * columns.size + j) * channels + channel;
                let value = x[input].plus(filter[filter_index]);
                if value > largest.value {
                    largest = Largest {
                        value,
                        input,
                        filter: filter_index,
                    };
                }
            }
        }
        largest
    }
}

/// Computes the largest sum of each window, at least `lowest`.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn dilate<T: Number>(plan: &Dilation, lowest: T, x: &[T], filter: &[T], y: &mut [T]) {
    plan.check(x, filter, y);
    for_each_row_chunk(y, 1, cost::Expensive.grain(), |first, y| {
        for (index, y) in y.iter_mut().enumerate() {
            *y = plan.find(lowest, x, filter, first + index).value;
        }
    });
}

/// The tensor of which a gradient is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DilationOperand {
    /// The input.
    Input,
    /// The filter.
    Filter,
}

/// Adds the gradient of an operand: that of a window goes to the terms of its first largest sum.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn add_gradient<T: Number>(
    plan: &Dilation,
    lowest: T,
    operand: DilationOperand,
    [x, filter, dy]: [&[T]; 3],
    gradient: &mut [T],
) {
    plan.check(x, filter, dy);
    if x.is_empty() || filter.is_empty() {
        return;
    }
    for (index, dy) in dy.iter().enumerate() {
        let largest = plan.find(lowest, x, filter, index);
        let to = match operand {
            DilationOperand::Input => largest.input,
            DilationOperand::Filter => largest.filter,
        };
        gradient[to] = gradient[to].plus(*dy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::ops::nn::window::Padding;
    use crate::compute::oracle::coordinates;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn dilation_and_gradients_match_oracle(
            input in (0..3_usize, 1..6_usize, 1..6_usize, 0..4_usize), size in [1..4_usize, 1..4_usize],
            steps in [(1..4_usize, 1..3_usize), (1..4_usize, 1..3_usize)], is_same in any::<bool>(),
        ) {
            let padding = if is_same { Padding::Same } else { Padding::Valid };
            let slides = steps.map(|(stride, dilation)| Slide { stride, dilation, padding });
            let input: [usize; 4] = input.into();
            let Ok(plan) = Dilation::new(input, size, slides) else { return Ok(()) };
            let [_, rows, columns] = plan.windows.windows();
            let x: Vec<i64> = (0..len(&input) as i64).map(|i| i * 7919 % 13).collect();
            let filter: Vec<i64> = (0..plan.filter() as i64).map(|i| i * 31 % 7).collect();
            let dy: Vec<i64> = (1..=len(&plan.output()) as i64).collect();
            let (mut y, mut dx, mut df) = (dy.clone(), vec![0; x.len()], vec![0; filter.len()]);
            let (mut expected_dx, mut expected_df) = (dx.clone(), df.clone());
            dilate(&plan, i64::MIN, &x, &filter, &mut y);
            add_gradient(&plan, i64::MIN, DilationOperand::Input, [&x, &filter, &dy], &mut dx);
            add_gradient(&plan, i64::MIN, DilationOperand::Filter, [&x, &filter, &dy], &mut df);
            for (o, at) in coordinates(&plan.output()).iter().enumerate() {
                let terms: Vec<[usize; 2]> = coordinates(&size).iter().filter_map(|k| {
                    let (row, column) = (rows.index(at[1], k[0])?, columns.index(at[2], k[1])?);
                    let pixel = ((at[0] * input[1] + row) * input[2] + column) * input[3] + at[3];
                    Some([pixel, (k[0] * size[1] + k[1]) * input[3] + at[3]])
                }).collect();
                // A window with dilation may have padding only.
                let Some(best) = terms.iter().map(|[i, k]| x[*i] + filter[*k]).max() else { return Ok(()) };
                let first = terms.iter().find(|[i, k]| x[*i] + filter[*k] == best).unwrap();
                prop_assert_eq!(y[o], best);
                expected_dx[first[0]] += dy[o];
                expected_df[first[1]] += dy[o];
            }
            prop_assert_eq!((dx, df), (expected_dx, expected_df));
        }
    }

    #[test]
    fn nan_is_no_largest_sum() {
        let plan = Dilation::new([1, 1, 2, 1], [1, 2], [Slide::NONE; 2]).unwrap();
        let (x, filter, mut dx) = ([f32::NAN; 2], [0.0; 2], [0.0; 2]);
        let mut y = [0.0];
        dilate(&plan, f32::MIN, &x, &filter, &mut y);
        assert_eq!(y, [f32::MIN]);
        add_gradient(
            &plan,
            f32::MIN,
            DilationOperand::Input,
            [&x, &filter, &[3.0]],
            &mut dx,
        );
        assert_eq!(dx, [3.0, 0.0]);
    }
}
