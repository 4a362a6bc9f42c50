//! The elements that each position of a depthwise convolution's result is summed over.

use crate::compute::ops::nn::window::Windows;

/// The elements of a window that a position of a result is summed over, and the positions of the operand that they are
/// multiplied with. Both are progressions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Taps {
    count: usize,
    position: usize,
    /// Added to the position of one tap for that of the next, modulo 2^64.
    position_step: usize,
    element: usize,
    element_step: usize,
}

impl Taps {
    /// Returns the elements of the input that a window has.
    pub(super) fn of_window(windows: &Windows, window: usize) -> Self {
        let (first, last) = windows.inside(window);
        Self {
            count: last - first,
            position: if first < last {
                windows.element(window, first)
            } else {
                0
            },
            position_step: windows.dilation,
            element: first,
            element_step: 1,
        }
    }

    /// Returns the windows that have an element of the input.
    pub(super) fn of_element(windows: &Windows, position: usize) -> Self {
        let Windows {
            stride, dilation, ..
        } = *windows;
        let window = |element: usize| {
            let start = (position + windows.before).checked_sub(element * dilation)?;
            let is_one = start.is_multiple_of(stride) && start / stride < windows.output;
            is_one.then_some(start / stride)
        };
        // Windows descend as elements ascend, so those of the output are the elements of one range.
        let element_step = stride / greatest_common_divisor(stride, dilation);
        let last = ((position + windows.before) / dilation + 1).min(windows.size);
        let too_late = (position + windows.before + 1).saturating_sub(windows.output * stride);
        let first = too_late.div_ceil(dilation).min(last);
        let found = (first..last.min(first + element_step)).find_map(|it| Some((it, window(it)?)));
        let (element, position) = found.unwrap_or((last, 0));
        Self {
            count: (last - element).div_ceil(element_step),
            position,
            position_step: (element_step * dilation / stride).wrapping_neg(),
            element,
            element_step,
        }
    }

    /// Returns the taps with positions and elements multiplied by `factor`.
    pub(super) fn times(self, factor: usize) -> Self {
        Self {
            count: self.count,
            position: self.position * factor,
            position_step: self.position_step.wrapping_mul(factor),
            element: self.element * factor,
            element_step: self.element_step * factor,
        }
    }

    /// Returns the distance from the first position of other taps, or `None` if theirs is behind.
    pub(super) fn distance(&self, other: &Self) -> Option<usize> {
        self.position.checked_sub(other.position)
    }

    /// Returns the greatest position, or 0 if there is none.
    #[inline(always)]
    pub(super) fn greatest_position(&self) -> usize {
        let steps = self.count.saturating_sub(1);
        let last = self.position_step.wrapping_mul(steps);
        self.position.max(self.position.wrapping_add(last))
    }

    /// Returns the taps of the same elements at positions `distance` later.
    pub(super) fn shifted(self, distance: usize) -> Self {
        Self {
            position: self.position + distance,
            ..self
        }
    }

    /// Calls `visit` with the position and the element of each tap.
    #[inline(always)]
    pub(super) fn for_each(self, mut visit: impl FnMut(usize, usize)) {
        let (mut position, mut element) = (self.position, self.element);
        for _ in 0..self.count {
            visit(position, element);
            position = position.wrapping_add(self.position_step);
            element += self.element_step;
        }
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::ops::nn::window::{Padding, Slide};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn taps_of_elements_are_the_windows_that_have_them(
            input in 1..20_usize, size in 1..7_usize, stride in 1..7_usize, dilation in 1..7_usize, pads in (0..9_usize, 0..9_usize),
        ) {
            let slide = Slide { stride, dilation, padding: Padding::Explicit(pads.0, pads.1) };
            let Ok(windows) = Windows::new(input, size, slide) else { return Ok(()) };
            for position in 0..input {
                let mut found = Vec::new();
                let taps = Taps::of_element(&windows, position);
                taps.for_each(|window, k| found.push((window, k)));
                let mut expected: Vec<_> = (0..windows.output)
                    .flat_map(|o| (0..size).map(move |k| (o, k)))
                    .filter(|(o, k)| windows.index(*o, *k) == Some(position))
                    .collect();
                expected.sort_by_key(|it| it.1);
                let greatest = found.iter().map(|it| it.0).max().unwrap_or(0);
                prop_assert_eq!(taps.greatest_position(), greatest);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
