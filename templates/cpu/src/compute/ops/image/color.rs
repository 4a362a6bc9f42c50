//! Colors: red, green and blue, or hue, saturation and value, each from 0 to 1.

use crate::compute::Broadcast;
use crate::compute::loops::map::map2;
use crate::compute::machine::array;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::ops::nn::activation::{maximum, minimum};
use crate::compute::scalar::elementary::{Elementary, Real};
use sp_plugin::allocation;

/// The three channels of a color.
pub type Color<T> = [T; 3];

/// Returns `x` limited to 0 and 1.
#[inline(always)]
fn clamp<T: Real>(x: T) -> T {
    minimum(maximum(x, T::ZERO), T::ONE)
}

/// Returns hue, saturation and value of red, green and blue.
#[inline(always)]
pub fn hsv_from_rgb<T: Real>([r, g, b]: Color<T>) -> Color<T> {
    let value = maximum(maximum(r, g), b);
    let range = value - minimum(minimum(r, g), b);
    let saturation = if value > T::ZERO {
        range / value
    } else {
        T::ZERO
    };
    let sixth = T::ONE / (T::constant(6.0) * range);
    let hue = if r == value {
        sixth * (g - b)
    } else if g == value {
        sixth * (b - r) + T::constant(2.0 / 6.0)
    } else {
        sixth * (r - g) + T::constant(4.0 / 6.0)
    };
    let hue = if range > T::ZERO { hue } else { T::ZERO };
    let hue = if hue < T::ZERO { hue + T::ONE } else { hue };
    [hue, saturation, value]
}

/// Returns red, green and blue of hue, saturation and value.
#[inline(always)]
pub fn rgb_from_hsv<T: Real>([hue, saturation, value]: Color<T>) -> Color<T> {
    let sixths = hue * T::constant(6.0);
    let distance = |from: f64| (sixths - T::constant(from)).absolute();
    let (one, two) = (T::ONE, T::constant(2.0));
    let pure = [
        clamp(distance(3.0) - one),
        clamp(two - distance(2.0)),
        clamp(two - distance(4.0)),
    ];
    array::map(pure, |pure| (one - saturation + saturation * pure) * value)
}

/// Returns a function that multiplies the saturation.
pub fn saturate<T: Real>(scale: T) -> impl Fn(Color<T>) -> Color<T> + Sync {
    move |color| {
        let [hue, saturation, value] = hsv_from_rgb(color);
        rgb_from_hsv([hue, clamp(saturation * scale), value])
    }
}

/// Returns a function that adds to the hue.
pub fn rotate_hue<T: Real>(delta: T) -> impl Fn(Color<T>) -> Color<T> + Sync {
    move |color| {
        let [hue, saturation, value] = hsv_from_rgb(color);
        let hue = hue + delta;
        rgb_from_hsv([hue - hue.round_down(), saturation, value])
    }
}

/// Writes `f` of each color.
///
/// # Panics
/// Panics if the lengths differ, or are no multiple of 3.
pub fn map_colors<T: Elementary>(x: &[T], out: &mut [T], f: impl Fn(Color<T>) -> Color<T> + Sync) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    for_each_row_chunk(out, 3, cost::Expensive.grain(), |first, out| {
        let x = &x[first * 3..][..out.len()];
        for (x, out) in x.chunks_exact(3).zip(out.chunks_exact_mut(3)) {
            out.copy_from_slice(&f([x[0], x[1], x[2]]));
        }
    });
}

/// Writes images of which the distances to the average of each channel are multiplied. The dims are batch, elements of
/// an image, and channels.
///
/// # Panics
/// Panics if a slice has another length.
pub fn adjust_contrast(
    [batch, pixels, channels]: [usize; 3],
    factor: f32,
    x: &[f32],
    out: &mut [f32],
) {
    let lens = [x.len(), out.len()];
    assert_eq!(lens, [batch * pixels * channels; 2], "other dims");
    if x.is_empty() {
        return;
    }
    let plan = Broadcast::new([&[pixels, channels][..], &[channels]]);
    let plan = plan.expect("the channels are the last dim of both");
    let images = x.chunks_exact(pixels * channels);
    for (x, out) in images.zip(out.chunks_exact_mut(pixels * channels)) {
        map2(
            &plan,
            x,
            &averages(channels, x),
            out,
            #[inline(always)]
            move |x, mean| (x - mean) * factor + mean,
        );
    }
}

/// Returns the average of each channel of an image. Several pixels are added at a time.
fn averages(channels: usize, image: &[f32]) -> Vec<f32> {
    let mut sums = allocation::filled(0.0, channels * 16);
    for pixels in image.chunks(sums.len()) {
        for (sum, x) in sums.iter_mut().zip(pixels) {
            *sum += f64::from(*x);
        }
    }
    let pixels = (image.len() / channels) as f64;
    let total = |channel: usize| sums[channel..].iter().step_by(channels).sum::<f64>();
    allocation::collect((0..channels).map(|channel| (total(channel) / pixels) as f32))
}
