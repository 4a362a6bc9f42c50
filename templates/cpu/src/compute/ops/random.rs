//! Random numbers of the Philox 4x32 generator with 10 rounds (Salmon et al., 2011), in the order in which TensorFlow
//! draws them.
//!
//! The generator returns four words for each value of a 128-bit counter. Group `i` of a result comes from the words of
//! counter `start + i`, so results do not depend on the division into tasks.

pub mod binomial;
pub mod gamma;

use crate::compute::machine::array;
use crate::compute::machine::parallel::for_each_row_chunk;
use sp_plugin::{Bf16, F16};
use std::f64::consts::PI;

/// The words of one counter.
type Words = [u32; 4];

/// The multipliers of a round.
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// The numbers that are added to the key after each round.
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
/// The number of counters that TensorFlow reserves for each number of a call, and of words for each number of a
/// distribution that rejects draws.
pub const RESERVED: u64 = 256;
/// The number of numbers in a task.
const GRAIN: usize = 4096;

/// A generator: a key, and the counter of the next words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Philox {
    key: u64,
    counter: u128,
}

impl Philox {
    /// Creates a generator. The first element of the counter is its lower half.
    pub fn new(key: u64, [low, high]: [u64; 2]) -> Self {
        Self {
            key,
            counter: u128::from(high) << 64 | u128::from(low),
        }
    }

    /// Returns the generator of the numbers after those of so many counters.
    pub fn skip(self, counters: u64) -> Self {
        Self {
            counter: self.counter.wrapping_add(counters.into()),
            ..self
        }
    }

    /// Creates the generator of a state: the lower and the upper half of the counter, and the key.
    pub fn from_state(state: [i64; 3]) -> Self {
        let [low, high, key] = state.map(i64::cast_unsigned);
        Self::new(key, [low, high])
    }

    /// Returns the state, as [`from_state`](Self::from_state) reads it.
    pub fn state(&self) -> [i64; 3] {
        let halves = [self.counter as u64, (self.counter >> 64) as u64, self.key];
        halves.map(u64::cast_signed)
    }

    /// Returns the words of the next counter.
    fn next_words(&mut self) -> Words {
        let words = self.words(0);
        *self = self.skip(1);
        words
    }

    /// Returns the words of the counter `index` after the first.
    #[inline(always)]
    fn words(&self, index: u128) -> Words {
        let counter = self.counter.wrapping_add(index);
        let mut words: Words = array::from_fn(|i| (counter >> (32 * i)) as u32);
        let mut key = [self.key as u32, (self.key >> 32) as u32];
        for _ in 0..10 {
            let products = array::map([0, 1], |i| {
                u64::from(MULTIPLIERS[i]) * u64::from(words[2 * i])
            });
            let [high, low] = [
                array::map(products, |it| (it >> 32) as u32),
                array::map(products, |it| it as u32),
            ];
            words = [
                high[1] ^ words[1] ^ key[0],
                low[1],
                high[0] ^ words[3] ^ key[1],
                low[0],
            ];
            key = array::map([0, 1], |i| key[i].wrapping_add(KEY_STEPS[i]));
        }
        words
    }

    /// Returns the key and the counter that TensorFlow derives from a seed of two numbers.
    pub fn from_seed(seed: [u64; 2]) -> (u64, [u64; 2]) {
        // TensorFlow scrambles the seed by one step with a constant key.
        let scrambled = Self::new(0x0246_1E29_3EC8_F720, seed).words(0);
        let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        (
            pair(scrambled[0], scrambled[1]),
            [0, pair(scrambled[2], scrambled[3])],
        )
    }
}

/// A type of random numbers, which are drawn in groups.
pub trait Sample: Copy + Send + Sync {
    /// The numbers that are made of four words.
    type Group: AsRef<[Self]>;

    /// Returns integers that use all bits.
    fn group(words: Words) -> Self::Group;
}

macro_rules! samples {
    ($($ty:ty: $count:literal, |$words:ident| $group:expr;)*) => {$(
        impl Sample for $ty {
            type Group = [$ty; $count];

            #[inline(always)]
            fn group($words: Words) -> Self::Group { $group }
        }
    )*};
}

/// Returns two integers of two words each.
#[inline(always)]
fn pairs(words: Words) -> [u64; 2] {
    array::map([0, 2], |i| {
        u64::from(words[i + 1]) << 32 | u64::from(words[i])
    })
}

samples! {
    u32: 4, |words| words;
    i32: 4, |words| array::map(words, |it| it as i32);
    u64: 2, |words| pairs(words);
    i64: 2, |words| array::map(pairs(words), |it| it as i64);
    // The bits of the mantissa, below the exponent of 1.
    F16: 4, |words| array::map(words, |it| F16::from_f32(F16(15 << 10 | it as u16 & 0x3FF).to_f32() - 1.0));
    Bf16: 4, |words| array::map(words, |it| Bf16::from_f32(Bf16(127 << 7 | it as u16 & 0x7F).to_f32() - 1.0));
    // 23 bits, and 20 of the first word with the second one, below the exponent of 1.
    f32: 4, |words| array::map(words, |it| f32::from_bits(0x7F << 23 | it & 0x7F_FFFF) - 1.0);
    f64: 2, |words| array::map([0, 2], |i| {
        let mantissa = u64::from(words[i] & 0xF_FFFF) << 32 | u64::from(words[i + 1]);
        f64::from_bits(0x3FF << 52 | mantissa) - 1.0
    });
}

/// Writes uniform numbers: integers of the whole range, floats of at least 0 and below 1.
pub fn uniform<T: Sample>(generator: Philox, out: &mut [T]) {
    fill(generator, out, T::group);
}

/// An integer type of which a part of the range can be drawn.
pub trait Bounded: Sample + PartialOrd {
    /// Returns `low` plus the remainder of the bits divided by `high - low`, which is above 0.
    fn bounded(self, low: Self, high: Self) -> Self;
}

macro_rules! bounded {
    ($($ty:ty as $unsigned:ty;)*) => {$(
        impl Bounded for $ty {
            #[inline(always)]
            fn bounded(self, low: Self, high: Self) -> Self {
                let range = (high as $unsigned).wrapping_sub(low as $unsigned);
                low.wrapping_add((self as $unsigned % range) as Self)
            }
        }
    )*};
}

bounded! {
    i32 as u32;
    i64 as u64;
    u32 as u32;
    u64 as u64;
}

/// Writes integers of at least `low` and below `high`.
///
/// # Panics
/// Panics if `low` is not below `high`.
pub fn uniform_int<T: Bounded>(generator: Philox, low: T, high: T, out: &mut [T]) {
    assert!(low < high, "an empty range");
    uniform(generator, out);
    for_each_row_chunk(out, 1, GRAIN, |_, out| {
        out.iter_mut().for_each(|it| *it = it.bounded(low, high))
    });
}

/// A type of normally distributed numbers.
pub trait Normal: Sample + PartialOrd {
    /// The number of words for two numbers.
    const WORDS: usize;
    /// Returns two normal numbers of [`WORDS`](Self::WORDS) words, by the transform of Box and Muller.
    fn pair(words: &[u32]) -> [Self; 2];
    /// Returns the normal numbers of four words.
    fn normals(words: Words) -> Self::Group;
    /// Returns true if the absolute value is below 2.
    fn is_near(self) -> bool;
}

impl Normal for f32 {
    const WORDS: usize = 2;

    #[inline]
    fn pair(words: &[u32]) -> [Self; 2] {
        let [u, v, ..] = <f32 as Sample>::group([words[0], words[1], 0, 0]);
        let angle = (2.0 * PI * f64::from(v)) as f32;
        let radius = (-2.0 * u.max(1e-7).ln()).sqrt();
        [angle.sin() * radius, angle.cos() * radius]
    }

    #[inline]
    fn normals(words: Words) -> [Self; 4] {
        let ([a, b], [c, d]) = (Self::pair(&words[..2]), Self::pair(&words[2..]));
        [a, b, c, d]
    }

    fn is_near(self) -> bool {
        self.abs() < 2.0
    }
}

impl Normal for f64 {
    const WORDS: usize = 4;

    #[inline]
    fn pair(words: &[u32]) -> [Self; 2] {
        let [u, v] = <f64 as Sample>::group([words[0], words[1], words[2], words[3]]);
        let angle = 2.0 * PI * v;
        let radius = (-2.0 * u.max(1e-7).ln()).sqrt();
        [angle.sin() * radius, angle.cos() * radius]
    }

    #[inline]
    fn normals(words: Words) -> [Self; 2] {
        Self::pair(&words)
    }

    fn is_near(self) -> bool {
        self.abs() < 2.0
    }
}

/// Writes numbers of the normal distribution with mean 0 and deviation 1.
pub fn normal<T: Normal>(generator: Philox, out: &mut [T]) {
    fill(generator, out, T::normals);
}

/// Writes normal numbers, of which those outside of two deviations are drawn again.
pub fn truncated_normal<T: Normal>(generator: Philox, out: &mut [T]) {
    let size = T::normals([0; 4]).as_ref().len();
    let counters = u128::from(size as u64 * RESERVED / 4);
    for_each_group(out, size, |group, out| {
        let mut next = group as u128 * counters;
        let mut words = [0; 4];
        let (mut used, mut written) = (4, 0);
        while written < size {
            if used == 4 {
                (words, used) = (generator.words(next), 0);
                next += 1;
            }
            let pair = T::pair(&words[used..][..T::WORDS]);
            used += T::WORDS;
            for number in pair.into_iter().filter(|it| it.is_near()) {
                if let Some(out) = out.get_mut(written) {
                    *out = number;
                }
                written += 1;
            }
        }
    });
}

/// Writes group `i` from the words of counter `i`; the last group may be cut off.
fn fill<T: Sample>(generator: Philox, out: &mut [T], group: impl Fn(Words) -> T::Group + Sync) {
    let size = T::group([0; 4]).as_ref().len();
    for_each_group(
        out,
        size,
        #[inline(always)]
        |index, out| {
            out.copy_from_slice(&group(generator.words(index as u128)).as_ref()[..out.len()])
        },
    );
}

/// Calls `write(index, group)` for each group of `size` numbers, of which the last may be cut off.
fn for_each_group<T: Send>(out: &mut [T], size: usize, write: impl Fn(usize, &mut [T]) + Sync) {
    crate::compute::machine::parallel::for_each_block(out, GRAIN, |block, out| {
        for (index, out) in out.chunks_mut(size).enumerate() {
            write(block * (GRAIN / size) + index, out);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of Philox 4x32-10, from the paper's reference implementation.
    #[test]
    fn words_match_known_answers() {
        assert_eq!(
            Philox::new(0, [0, 0]).words(0),
            [0x6627_E8D5, 0xE169_C58D, 0xBC57_AC4C, 0x9B00_DBD8]
        );
        let ones = Philox::new(u64::MAX, [u64::MAX; 2]);
        assert_eq!(
            ones.words(0),
            [0x408F_276D, 0x41C8_3B0E, 0xA20B_C7C6, 0x6D54_51FD]
        );
    }

    /// Compares with the numbers that TensorFlow 2.21 draws on the CPU.
    #[test]
    fn numbers_match_tensorflow() {
        let generator = Philox::new(0x0123_4567_89AB_CDEF, [5, 7]);
        let (mut words, mut longs, mut floats, mut doubles) =
            ([0_u32; 9], [0_u64; 3], [0_f32; 5], [0_f64; 3]);
        uniform(generator, &mut words);
        assert_eq!(words[..3], [0x414D_A380, 0xB770_2AF1, 0xCD64_2C43]);
        assert_eq!(words[8], 0xD5B8_3AA9);
        uniform(generator, &mut longs);
        assert_eq!(longs[1..], [0x43DC_5E58_CD64_2C43, 0xD6B7_57AD_0DBE_9975]);
        uniform(generator, &mut floats);
        assert_eq!(floats[4], 0.489_058_14);
        uniform(generator, &mut doubles);
        let printed = doubles.map(|it| (it * 1e8).round() as u32);
        assert_eq!(printed, [85_241_768, 26_080_634, 91_246_590]);
        assert_eq!(
            Philox::from_seed([5, 7]),
            (0x6647_4FA6_818D_6A64, [0, 0xAFF6_1D76_EE7B_B6FE])
        );
        let mut normals = [0_f32; 5];
        normal(generator, &mut normals);
        assert_eq!(
            normals,
            [
                -0.701_235_8,
                0.712_879_8,
                -0.689_094_07,
                -0.124_155_335,
                0.493_130_92
            ]
        );
        truncated_normal(generator, &mut normals);
        assert_eq!(
            normals,
            [
                -0.701_235_8,
                0.712_879_8,
                -0.689_094_07,
                -0.124_155_335,
                -0.148_231_64
            ]
        );
    }

    #[test]
    fn counter_carries_into_its_upper_half() {
        let start = Philox::new(3, [u64::MAX, 8]);
        assert_eq!(start.words(1), Philox::new(3, [0, 9]).words(0));
        assert_eq!(
            Philox::new(3, [u64::MAX; 2]).words(1),
            Philox::new(3, [0, 0]).words(0)
        );
    }

    #[test]
    fn state_after_a_skip_has_the_carry() {
        let state = [-1, -1, 5];
        assert_eq!(Philox::from_state(state).state(), state);
        assert_eq!(
            Philox::from_state(state).skip(2 * RESERVED).state(),
            [511, 0, 5]
        );
        assert_eq!(
            Philox::from_state([1, 2, 3]).skip(u64::MAX).state(),
            [0, 3, 3]
        );
    }

    #[test]
    fn bounds_that_overflow_the_signed_difference_are_kept() {
        let mut out = [0_i32; 1000];
        uniform_int(Philox::new(1, [2, 3]), i32::MIN, i32::MAX, &mut out);
        assert!(
            out.iter().any(|it| *it < -1_000_000_000) && out.iter().any(|it| *it > 1_000_000_000)
        );
        uniform_int(Philox::new(1, [2, 3]), -3, 4, &mut out);
        assert!(out.iter().all(|it| (-3..4).contains(it)) && (-3..4).all(|it| out.contains(&it)));
    }

    #[test]
    fn prefix_of_a_longer_result_is_the_shorter_one() {
        let generator = Philox::new(9, [1, 1]);
        let (mut long, mut short) = (vec![0_f32; 3 * GRAIN + 3], vec![0_f32; GRAIN + 2]);
        truncated_normal(generator, &mut long);
        truncated_normal(generator, &mut short);
        assert_eq!(long[..short.len()], short[..]);
        assert!(long.iter().all(|it| it.abs() < 2.0));
    }
}
