//! Numbers rounded to the steps of a quantized range, as numbers.

use crate::compute::loops::search::Extremes;
use crate::compute::machine::array;
use crate::compute::scalar::arith::{greatest, least};
use crate::compute::scalar::elementary::Real;
use sp_plugin::allocation;

/// A range whose limits are moved so that 0 is a step, with the size of a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Nudged {
    low: f32,
    high: f32,
    step: f32,
    /// The number of steps in 1.
    inverse: f32,
}

impl Nudged {
    /// Creates the range, with its limits moved. It has `2^bits` steps, or one fewer if it is narrow.
    pub fn new([low, high]: [f32; 2], bits: u32, is_narrow: bool) -> Self {
        let (first, last) = (f32::from(u8::from(is_narrow)), ((1_u32 << bits) - 1) as f32);
        let step = (high - low) / (last - first);
        let zero = first - low / step;
        let zero = match zero {
            _ if zero < first => first,
            _ if zero > last => last,
            _ => zero.round(),
        };
        Self {
            low: (first - zero) * step,
            high: (last - zero) * step,
            step,
            inverse: (last - first) / (high - low),
        }
    }

    /// Returns the range with the rounded inverse of a step in the place of the number of steps in 1.
    pub fn with_inverse_of_step(self) -> Self {
        Self {
            inverse: 1.0 / self.step,
            ..self
        }
    }

    /// Rounds a number to a step of the range.
    #[inline(always)]
    pub fn round(&self, x: f32) -> f32 {
        let zero = (-self.low * self.inverse + 0.5).floor();
        // NaN remains.
        let x = greatest(least(x, self.high), self.low);
        ((x - self.low) * self.inverse - zero + 0.5).floor() * self.step
    }

    /// Returns the shares of a gradient: that of the number, of the lower and of the upper limit.
    #[inline(always)]
    pub fn shares(&self, x: f32, gradient: f32) -> [f32; 3] {
        let share = |is_taken| if is_taken { gradient } else { 0.0 };
        let is_inside = x >= self.low && x <= self.high;
        array::map([is_inside, x < self.low, x > self.high], share)
    }
}

/// The rounding of a number halfway between two steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Half {
    /// To the even step.
    Even,
    /// To the upper step.
    Up,
}

/// The integers to which numbers are rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Levels {
    /// The lowest integer.
    pub low: i64,
    /// The highest integer.
    pub high: i64,
}

impl Levels {
    /// Returns the integers of so many bits, at most 62. A narrow range has as many below 0 as above.
    pub fn new(bits: u32, is_signed: bool, is_narrow: bool) -> Self {
        match is_signed {
            true => Self {
                low: i64::from(is_narrow) - (1 << (bits - 1)),
                high: (1 << (bits - 1)) - 1,
            },
            false => Self {
                low: 0,
                high: (1 << bits) - 1,
            },
        }
    }
}

/// A scale that takes a range to integers.
#[derive(Clone, Copy, Debug)]
pub struct Scale<T> {
    range: [T; 2],
    scale: T,
    inverse: T,
}

impl<T: Real + Extremes> Scale<T> {
    /// Returns the largest scale for which both limits are integers of the levels; one limit is moved outward.
    pub fn new([min, max]: [T; 2], levels: Levels) -> Self {
        let [low, high] = [levels.low, levels.high].map(|it| T::constant(it as f64));
        let scale = |level: T, limit: T| match level * limit > T::ZERO {
            true => level / limit,
            false => T::HIGHEST_FINITE,
        };
        let (from_min, from_max) = (scale(low, min), scale(high, max));
        match from_min < from_max {
            true => {
                let inverse = min / low;
                Self {
                    range: [min, high * inverse],
                    scale: from_min,
                    inverse,
                }
            }
            false => {
                let inverse = max / high;
                Self {
                    range: [low * inverse, max],
                    scale: from_max,
                    inverse,
                }
            }
        }
    }

    /// Rounds a number to an integer, and converts it back.
    #[inline(always)]
    pub fn round(&self, x: T, half: Half) -> T {
        let scaled = x * self.scale;
        let rounded = match half {
            Half::Even => scaled.round_even(),
            Half::Up => (scaled + T::constant(0.5)).round_down(),
        };
        rounded * self.inverse
    }

    /// Returns the nearest number of the range; NaN remains.
    #[inline(always)]
    pub fn clamp(&self, x: T) -> T {
        let [min, max] = self.range;
        greatest(least(x, max), min)
    }
}

/// Returns the least and the greatest number of each channel; NaN is left out.
///
/// # Panics
/// Panics if a number is of another channel.
pub fn limits<T: Real + Extremes>(
    channels: usize,
    numbers: impl Iterator<Item = (usize, T)>,
) -> Vec<[T; 2]> {
    let mut limits = allocation::filled([T::LOWEST.negated(), T::LOWEST], channels);
    for (channel, x) in numbers {
        let [min, max] = &mut limits[channel];
        (*min, *max) = (least(*min, x), greatest(*max, x));
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers of TensorFlow 2.12 and 2.21. With limits that are scalar tensors it multiplies by the inverse of a step.
    #[test]
    fn halves_between_steps_are_rounded_as_by_tensorflow() {
        let range = Nudged::new([-0.562_056_54, 5.756_372_5], 8, false);
        assert_eq!(range.round(4.943_240_6), 4.930_852_4);
        assert_eq!(range.round(4.943_241), 4.955_631);
        let range = range.with_inverse_of_step();
        assert_eq!(range.round(4.943_241), 4.930_852_4);
        assert_eq!(range.round(4.943_241_6), 4.955_631);
    }

    proptest! {
        #[test]
        fn numbers_are_rounded_to_the_nearest_step(x in -9.0..9.0_f32, low in -6.0..-0.5_f32, width in 7.0..9.0_f32, bits in 2..9_u32, is_narrow in any::<bool>()) {
            let range = Nudged::new([low, low + width], bits, is_narrow);
            let steps = (1 << bits) - 1 - i32::from(is_narrow);
            let nearest = (0..=steps).map(|i| range.low + i as f32 * range.step).map(|it| (it - x).abs()).fold(f32::MAX, f32::min);
            prop_assert!(((range.round(x) - x).abs() - nearest).abs() < 1e-4);
            prop_assert_eq!(range.round(0.0), 0.0);
            prop_assert!((range.low - low).abs() <= range.step * 0.501 && (range.high - range.low - width).abs() < 1e-4);
            let shares = range.shares(x, 2.0);
            prop_assert_eq!(shares.iter().sum::<f32>(), 2.0);
            prop_assert_eq!(shares[0] != 0.0, x.clamp(range.low, range.high) == x);
        }

        #[test]
        fn scaled_numbers_are_integers_of_the_levels(x in -9.0..9.0_f64, min in -6.0..-0.5_f64, max in 0.5..6.0_f64, bits in 2..9_u32, signed in any::<bool>(), narrow in any::<bool>()) {
            let levels = Levels::new(bits, signed, narrow);
            let scale = Scale::new([min, max], levels);
            let level = scale.round(scale.clamp(x), Half::Even) * scale.scale;
            prop_assert!((level - level.round()).abs() < 1e-9);
            prop_assert!(level > levels.low as f64 - 1e-9 && level < levels.high as f64 + 1e-9);
            prop_assert!(!signed || scale.range[0] <= min + 1e-9);
            prop_assert!(scale.range[1] >= max - 1e-9);
        }
    }

    #[test]
    fn halves_are_rounded_as_stated_and_nan_remains() {
        let scale = Scale::new([-1.0, 1.0], Levels::new(3, true, false));
        assert_eq!(scale.round(0.5, Half::Even), 2.0 / 3.0);
        assert_eq!(scale.round(-0.5, Half::Even), -2.0 / 3.0);
        assert_eq!(scale.round(-0.5, Half::Up), -1.0 / 3.0);
        assert!(scale.round(scale.clamp(f64::NAN), Half::Up).is_nan());
        assert!(Nudged::new([0.0, 1.0], 8, false).round(f32::NAN).is_nan());
        let numbers = [(0, 1.0), (1, 5.0), (0, f32::NAN), (0, -2.0)];
        assert_eq!(limits(2, numbers.into_iter()), [[-2.0, 1.0], [5.0, 5.0]]);
    }
}
