//! The elements of windows of images and volumes, as the channels of the result. Tensors are in the order batch, planes,
//! rows, columns, channels. An image is a volume of one plane.

use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::ops::nn::pool::Pool;
use crate::compute::ops::nn::window::Slide;
use crate::compute::{Result, len};

/// The windows whose elements are copied.
#[derive(Clone, Copy, Debug)]
pub struct Patches {
    windows: Pool,
}

impl Patches {
    /// Plans windows of `size` planes, rows and columns.
    ///
    /// # Errors
    /// Returns [`Error::WindowTooLarge`](crate::compute::Error).
    pub fn new(input: [usize; 5], size: [usize; 3], slides: [Slide; 3]) -> Result<Self> {
        let windows = Pool::new_3d(input, size, slides)?;
        Ok(Self { windows })
    }

    /// Returns the dims of the result.
    pub fn output(&self) -> [usize; 5] {
        let [batch, planes, rows, columns, channels] = self.windows.output_3d();
        let sizes = self.windows.windows().map(|it| it.size);
        let elements = sizes.into_iter().fold(channels, usize::saturating_mul);
        [batch, planes, rows, columns, elements]
    }

    /// Copies the elements of `width` bytes; those of the padding are `zero`.
    ///
    /// # Panics
    /// Panics if a slice has another length than the plan.
    pub fn extract<B: Copy + Send + Sync>(&self, width: usize, x: &[B], zero: B, out: &mut [B]) {
        let input = self.windows.input_3d();
        let lens = [len(&input), len(&self.output())].map(|it| it * width);
        assert_eq!(
            [x.len(), out.len()],
            lens,
            "a tensor differs in length from the plan"
        );
        // The other dims of an empty tensor may be of any size.
        if out.is_empty() {
            return;
        }
        let element = input[4] * width;
        let window = self.output()[4] * width;
        for_each_row_chunk(out, window, cost::Cheap.grain(), |first, out| {
            for (index, out) in out.chunks_exact_mut(window).enumerate() {
                for (k, out) in out.chunks_exact_mut(element).enumerate() {
                    match self.find(first + index, k) {
                        Some(at) => out.copy_from_slice(&x[at * element..][..element]),
                        None => out.fill(zero),
                    }
                }
            }
        });
    }

    /// Returns the index of the element `k` of a window in the input, without its channels; `None` in the padding.
    fn find(&self, window: usize, k: usize) -> Option<usize> {
        let [planes, rows, columns] = self.windows.windows();
        let split = |at: usize, by: usize| (at / by, at % by);
        let ((line, x), (k_line, k_x)) = (split(window, columns.output), split(k, columns.size));
        let ((line, y), (k_z, k_y)) = (split(line, rows.output), split(k_line, rows.size));
        let (image, z) = split(line, planes.output);
        let plane = image * planes.input + planes.index(z, k_z)?;
        let row = plane * rows.input + rows.index(y, k_y)?;
        Some(row * columns.input + columns.index(x, k_x)?)
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
        fn patches_match_oracle(
            input in (0..3_usize, 1..4_usize, 1..6_usize, 1..6_usize, 0..4_usize),
            size in [1..3_usize, 1..4_usize, 1..4_usize],
            steps in [(1..3_usize, 1..3_usize), (1..4_usize, 1..3_usize), (1..4_usize, 1..3_usize)],
            is_same in any::<bool>(),
        ) {
            let padding = if is_same { Padding::Same } else { Padding::Valid };
            let slides = steps.map(|(stride, dilation)| Slide { stride, dilation, padding });
            let input: [usize; 5] = input.into();
            let Ok(plan) = Patches::new(input, size, slides) else { return Ok(()) };
            let x: Vec<u16> = (1..=len(&input) as u16).collect();
            let bytes = |x: &[u16]| x.iter().flat_map(|it| it.to_ne_bytes()).collect::<Vec<u8>>();
            let mut out = vec![9; len(&plan.output()) * 2];
            plan.extract(2, &bytes(&x), 0, &mut out);
            let full = [&plan.output()[..4], &size, &input[4..]].concat();
            let expected: Vec<u16> = coordinates(&full).iter().map(|at| {
                let index = |i: usize| plan.windows.windows()[i].index(at[i + 1], at[i + 4]);
                let (Some(z), Some(row), Some(column)) = (index(0), index(1), index(2)) else { return 0 };
                x[(((at[0] * input[1] + z) * input[2] + row) * input[3] + column) * input[4] + at[7]]
            }).collect();
            prop_assert_eq!(out, bytes(&expected));
        }
    }
}
