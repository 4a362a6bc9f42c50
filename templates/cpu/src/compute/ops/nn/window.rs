//! Windows that slide over the planes, rows and columns of images and volumes: of convolutions and pools.

use crate::compute::{Error, Result};

/// The elements that are assumed around one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Padding {
    /// The elements that give `ceil(input / stride)` windows, the odd one at the end.
    Same,
    /// None.
    Valid,
    /// These numbers of elements before and after.
    Explicit(usize, usize),
}

/// The movement of a window along one dimension. All numbers are at most `i32::MAX`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slide {
    /// The distance of two windows.
    pub stride: usize,
    /// The distance of two elements of a window.
    pub dilation: usize,
    /// The padding.
    pub padding: Padding,
}

impl Slide {
    /// A window that does not move: along the one plane of an image.
    pub const NONE: Self = Self {
        stride: 1,
        dilation: 1,
        padding: Padding::Valid,
    };
}

/// The windows along one dimension: window `o` has the elements `o * stride + k * dilation - before`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Windows {
    /// The length of the dimension.
    pub input: usize,
    /// The number of elements of a window.
    pub size: usize,
    /// The number of windows.
    pub output: usize,
    /// The distance of two windows.
    pub stride: usize,
    /// The distance of two elements of a window.
    pub dilation: usize,
    /// The number of elements of padding before the first one.
    pub before: usize,
}

impl Windows {
    /// The one window over the one plane of an image.
    pub const ONE_PLANE: Self = Self {
        input: 1,
        size: 1,
        output: 1,
        stride: 1,
        dilation: 1,
        before: 0,
    };

    /// Returns the windows of `size` elements over `input` elements.
    ///
    /// # Errors
    /// Returns [`Error::WindowTooLarge`] if the padded input is shorter than a window by a stride or more.
    pub fn new(input: usize, size: usize, slide: Slide) -> Result<Self> {
        let Slide {
            stride,
            dilation,
            padding,
        } = slide;
        // Sizes are below 2^63, so no sum or product of two overflows.
        let [input_len, size_len, step, spread] =
            [input, size, stride, dilation].map(|it| it as i128);
        let extent = (size_len - 1) * spread + 1;
        let (output, before) = match padding {
            Padding::Same => {
                let output = (input_len + step - 1) / step;
                (
                    output,
                    ((output - 1) * step + extent - input_len).max(0) / 2,
                )
            }
            Padding::Valid => ((input_len - extent + step) / step, 0),
            Padding::Explicit(before, after) => {
                let [before, after] = [before, after].map(|it| it as i128);
                ((input_len + before + after - extent + step) / step, before)
            }
        };
        match (usize::try_from(output), usize::try_from(before)) {
            (Ok(output), Ok(before)) => Ok(Self {
                input,
                size,
                output,
                stride,
                dilation,
                before,
            }),
            _ => Err(Error::WindowTooLarge {
                input,
                extent: extent as i64,
                stride,
            }),
        }
    }

    /// Returns the index of element `k` of window `o`, or `None` in the padding.
    #[inline(always)]
    pub fn index(&self, o: usize, k: usize) -> Option<usize> {
        let index = (o * self.stride + k * self.dilation).checked_sub(self.before)?;
        (index < self.input).then_some(index)
    }

    /// Returns the index of element `k` of window `o`, which is not in the padding.
    #[inline(always)]
    pub fn element(&self, o: usize, k: usize) -> usize {
        o * self.stride + k * self.dilation - self.before
    }

    /// Returns the elements of window `o` that are not in the padding, as the first and the one after the last.
    #[inline(always)]
    pub fn inside(&self, o: usize) -> (usize, usize) {
        let start = o * self.stride;
        let first = self.steps(self.before.saturating_sub(start));
        let last = self.steps((self.input + self.before).saturating_sub(start));
        (
            first.min(self.size),
            last.min(self.size).max(first.min(self.size)),
        )
    }

    /// Returns the number of elements of a window that begin within a distance.
    #[inline(always)]
    fn steps(&self, distance: usize) -> usize {
        match self.dilation {
            // A division takes longer than a small window.
            1 => distance,
            dilation => distance.div_ceil(dilation),
        }
    }

    /// Returns true if window `o` is element `o`.
    pub fn is_identity(&self) -> bool {
        self.size == 1 && self.stride == 1 && self.before == 0 && self.output == self.input
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn elements_inside_are_those_with_an_index(
            input in 0..20_usize, size in 0..6_usize, stride in 1..5_usize, dilation in 1..4_usize, pads in (0..5_usize, 0..5_usize), kind in 0..3_u8,
        ) {
            let padding = match kind { 0 => Padding::Same, 1 => Padding::Valid, _ => Padding::Explicit(pads.0, pads.1) };
            let Ok(windows) = Windows::new(input, size, Slide { stride, dilation, padding }) else { return Ok(()) };
            for o in 0..windows.output {
                let (first, last) = windows.inside(o);
                let expected: Vec<usize> = (0..size).filter(|k| windows.index(o, *k).is_some()).collect();
                prop_assert_eq!((first..last).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn same_padding_puts_the_odd_element_at_the_end() {
        let slide = Slide {
            stride: 2,
            dilation: 1,
            padding: Padding::Same,
        };
        let windows = Windows::new(4, 3, slide).unwrap();
        assert_eq!([windows.output, windows.before], [2, 0]);
        let windows = Windows::new(5, 3, slide).unwrap();
        assert_eq!([windows.output, windows.before], [3, 1]);
    }

    #[test]
    fn window_without_place_has_no_output_or_is_an_error_as_in_tensorflow() {
        let slide = Slide {
            stride: 1,
            dilation: 1,
            padding: Padding::Valid,
        };
        assert_eq!(Windows::new(2, 3, slide).unwrap().output, 0);
        assert!(Windows::new(1, 3, slide).is_err());
        let huge = Slide {
            stride: i32::MAX as usize,
            dilation: i32::MAX as usize,
            padding: Padding::Valid,
        };
        assert!(Windows::new(4, i32::MAX as usize, huge).is_err());
    }
}
