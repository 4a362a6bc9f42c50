//! Local response normalization: each element over a power of the squares of the channels around it.

use crate::compute::array;
use crate::compute::cost::{self, Cost};
use crate::compute::parallel::for_each_row_chunk;
use std::ops::Range;

/// The attributes of the normalization.
#[derive(Clone, Copy, Debug)]
pub struct Normalization {
    /// The number of channels on each side.
    pub depth_radius: usize,
    /// Added to the sum.
    pub bias: f32,
    /// The factor of the sum.
    pub alpha: f32,
    /// The exponent.
    pub beta: f32,
}

impl Normalization {
    /// Returns the channels around a channel.
    fn around(&self, channel: usize, channels: usize) -> Range<usize> {
        let end = channel.saturating_add(self.depth_radius).saturating_add(1);
        channel.saturating_sub(self.depth_radius)..end.min(channels)
    }

    /// Returns the base of the power for a channel.
    fn base(&self, x: &[f32], channel: usize) -> f32 {
        let x = &x[self.around(channel, x.len())];
        self.bias + self.alpha * x.iter().map(|x| x * x).sum::<f32>()
    }

    /// Writes the normalized channels of one element.
    #[inline]
    fn write(&self, x: &[f32], out: &mut [f32]) {
        for (channel, out) in out.iter_mut().enumerate() {
            *out = x[channel] * self.base(x, channel).powf(-self.beta);
        }
    }

    /// Writes the gradient of the channels of one element from the gradient of its result `y`.
    fn write_gradient(&self, dy: &[f32], x: &[f32], y: &[f32], dx: &mut [f32]) {
        dx.fill(0.0);
        for (channel, dy) in dy.iter().enumerate() {
            let base = self.base(x, channel);
            let around = -2.0 * self.alpha * self.beta * y[channel] / base;
            for other in self.around(channel, x.len()) {
                dx[other] += around * x[other] * dy;
            }
            dx[channel] += base.powf(-self.beta) * dy;
        }
    }
}

/// Writes the normalized elements, whose last dim has `channels`.
///
/// # Panics
/// Panics if the lengths differ, or are no multiple of the channels.
pub fn normalize(it: &Normalization, channels: usize, x: &[f32], out: &mut [f32]) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    if x.is_empty() {
        return;
    }
    for_each_row_chunk(out, channels, cost::Expensive.grain(), |first, out| {
        let x = &x[first * channels..][..out.len()];
        let pixels = x.chunks_exact(channels).zip(out.chunks_exact_mut(channels));
        pixels.for_each(|(x, out)| it.write(x, out));
    });
}

/// Writes the gradient of [`normalize`] from its argument `x`, its result `y` and the gradient of the result.
///
/// # Panics
/// Panics if the lengths differ, or are no multiple of the channels.
pub fn normalize_grad(
    it: &Normalization,
    channels: usize,
    [dy, x, y]: [&[f32]; 3],
    dx: &mut [f32],
) {
    let lens = [dy, x, y].map(<[f32]>::len);
    assert_eq!(lens, [dx.len(); 3], "operands and result differ in length");
    if x.is_empty() {
        return;
    }
    for_each_row_chunk(dx, channels, cost::Expensive.grain(), |first, dx| {
        for (pixel, dx) in (first..).zip(dx.chunks_exact_mut(channels)) {
            let [dy, x, y] = array::map([dy, x, y], |it| &it[pixel * channels..][..channels]);
            it.write_gradient(dy, x, y, dx);
        }
    });
}
