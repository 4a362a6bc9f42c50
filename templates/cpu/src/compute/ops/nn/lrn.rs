//! Local response normalization: each element over a power of the squares of the channels around it.

use crate::compute::machine::array;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::machine::simd::Isa;
use crate::compute::scalar::approximation64;
use sp_plugin::allocation;

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
    /// Writes the bases of the powers of whole pixels, and the powers.
    #[inline(always)]
    fn write_powers(
        &self,
        x: &[f32],
        windows: &mut ChannelSums,
        bases: &mut [f32],
        powers: &mut [f32],
    ) {
        windows.sum_products(x, x, bases);
        let mut is_regular = self.beta.is_finite();
        for (base, power) in bases.iter_mut().zip(&mut *powers) {
            *base = self.bias + self.alpha * *base;
            is_regular &= is_normal_positive(*base);
            *power = approximation64::power(*base, -self.beta);
        }
        if !is_regular {
            self.replace_irregular(bases, powers);
        }
    }

    /// Replaces the powers that [`approximation64::power`] does not have. They do not depend on other elements of the
    /// block, and so not on the division of the work.
    #[cold]
    #[inline(never)]
    fn replace_irregular(&self, bases: &[f32], powers: &mut [f32]) {
        for (base, power) in bases.iter().zip(powers) {
            if !self.beta.is_finite() || !is_normal_positive(*base) {
                *power = base.powf(-self.beta);
            }
        }
    }

    /// Writes normalized pixels.
    #[inline(always)]
    fn write(&self, x: &[f32], windows: &mut ChannelSums, out: &mut [f32]) {
        let mut bases = allocation::filled(0.0, windows.block_len());
        let block = bases.len();
        for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
            self.write_powers(x, windows, &mut bases[..x.len()], out);
            for (out, x) in out.iter_mut().zip(x) {
                *out *= *x;
            }
        }
    }

    /// Writes the gradient of pixels from the gradient of their result `y`.
    #[inline(always)]
    fn write_gradient(&self, [dy, x, y]: [&[f32]; 3], windows: &mut ChannelSums, dx: &mut [f32]) {
        let block = windows.block_len();
        let [mut bases, mut sums] = [(); 2].map(|()| allocation::filled(0.0, block));
        for (index, dx) in dx.chunks_mut(block).enumerate() {
            let [dy, x, y] = array::map(
                [dy, x, y],
                #[inline(always)]
                |it| &it[index * block..][..dx.len()],
            );
            let (bases, sums) = (&mut bases[..dx.len()], &mut sums[..dx.len()]);
            self.write_powers(x, windows, bases, dx);
            // Each base becomes the factor of the products with the channels around.
            for (base, y) in bases.iter_mut().zip(y) {
                *base = -2.0 * self.alpha * self.beta * *y / *base;
            }
            windows.sum_products(bases, dy, sums);
            for ((dx, sum), (x, dy)) in dx.iter_mut().zip(&*sums).zip(x.iter().zip(dy)) {
                *dx = *sum * *x + *dx * *dy;
            }
        }
    }
}

#[inline(always)]
fn is_normal_positive(x: f32) -> bool {
    // The bits of negative numbers and NaN are larger ones.
    let least = f32::MIN_POSITIVE.to_bits();
    x.to_bits().wrapping_sub(least) < f32::INFINITY.to_bits() - least
}

/// Sums over the channels around each channel, for a block of pixels.
struct ChannelSums {
    channels: usize,
    /// The number of channels on each side, at most all others.
    radius: usize,
    /// Pixels with zeros between them, so that loops are over a block and not over the channels of a pixel.
    padded: Vec<f32>,
    /// The sums of the windows that begin at each element.
    sums: Vec<f32>,
}

impl ChannelSums {
    /// The least number of elements in a block. All buffers fit in the first cache.
    const BLOCK: usize = 1024;

    /// Creates the buffers for at least one channel.
    fn new(depth_radius: usize, channels: usize) -> Self {
        let radius = depth_radius.min(channels - 1);
        let len = Self::BLOCK.div_ceil(channels) * (channels + radius);
        Self {
            channels,
            radius,
            padded: allocation::filled(0.0, len + 2 * radius),
            sums: allocation::filled(0.0, len),
        }
    }

    /// Returns the number of elements of a block.
    fn block_len(&self) -> usize {
        self.sums.len() / (self.channels + self.radius) * self.channels
    }

    /// Writes the sums of the products of two elements over the channels around each channel, from the first channel to
    /// the last. A block has whole pixels.
    #[inline(always)]
    fn sum_products(&mut self, x: &[f32], y: &[f32], out: &mut [f32]) {
        let (channels, radius) = (self.channels, self.radius);
        let stride = channels + radius;
        let pixels = x.chunks_exact(channels).zip(y.chunks_exact(channels));
        for (to, (x, y)) in self.padded.chunks_exact_mut(stride).zip(pixels) {
            for (to, (x, y)) in to[radius..].iter_mut().zip(x.iter().zip(y)) {
                *to = x * y;
            }
        }
        self.sum_padded();
        let sums = self.sums.chunks_exact(stride);
        for (out, sums) in out.chunks_exact_mut(channels).zip(sums) {
            out.copy_from_slice(&sums[..channels]);
        }
    }

    #[inline(always)]
    fn sum_padded(&mut self) {
        self.sums.fill(0.0);
        for first in 0..=2 * self.radius {
            for (sum, x) in self.sums.iter_mut().zip(&self.padded[first..]) {
                *sum += *x;
            }
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
    let isa = Isa::current();
    for_each_row_chunk(out, channels, cost::Moderate.grain(), |first, out| {
        let x = &x[first * channels..][..out.len()];
        let mut windows = ChannelSums::new(it.depth_radius, channels);
        isa.vectorize(
            #[inline(always)]
            || it.write(x, &mut windows, out),
        );
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
    let isa = Isa::current();
    for_each_row_chunk(dx, channels, cost::Moderate.grain(), |first, dx| {
        let operands = array::map([dy, x, y], |it| &it[first * channels..][..dx.len()]);
        let mut windows = ChannelSums::new(it.depth_radius, channels);
        isa.vectorize(
            #[inline(always)]
            || it.write_gradient(operands, &mut windows, dx),
        );
    });
}
