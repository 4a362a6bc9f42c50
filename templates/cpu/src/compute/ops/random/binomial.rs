//! Numbers of the binomial distribution, in the order in which TensorFlow draws them: sums of geometric numbers if the mean is
//! below 10, else the transformed rejection of Hörmann (1993). They are computed in `f64` for all types.

use super::{Philox, RESERVED, Sample};
use crate::compute::machine::parallel::for_each_row_chunk;

/// The number of numbers in a task.
const GRAIN: usize = 64;
/// The number of counters of a number that is a sum.
const RESERVED_BY_SUM: u64 = 42;
/// The least mean of a number that is drawn by rejection.
const LEAST_MEAN: f64 = 10.0;

/// A distribution: the number of trials, and the probability of a success.
#[derive(Clone, Copy, Debug)]
pub struct Binomial {
    trials: f64,
    probability: f64,
    /// The smaller one of the probabilities of a success and a failure.
    rarer: f64,
    /// True if the mean of the rarer ones is at least 10.
    is_large: bool,
}

impl Binomial {
    /// Creates a distribution. `round` rounds to the type of the parameters, in which TensorFlow computes the mean.
    pub fn new(trials: f64, probability: f64, round: impl Fn(f64) -> f64) -> Self {
        let rarer = match probability <= 0.5 {
            true => probability,
            false => round(1.0 - probability),
        };
        Self {
            trials,
            probability,
            rarer,
            is_large: round(trials * rarer) >= LEAST_MEAN,
        }
    }
}

/// Returns the number of counters that TensorFlow reserves for a call: `rows` numbers of each of so many distributions.
pub fn reserved(rows: usize, distributions: usize) -> u64 {
    let numbers = (distributions as u64).wrapping_mul(200);
    numbers.wrapping_mul(rows as u64 + 3) / 4
}

/// Writes rows with a number of each distribution.
///
/// # Panics
/// Panics if `out` does not consist of rows.
pub fn binomial<T: Send>(
    generator: Philox,
    distributions: &[Binomial],
    out: &mut [T],
    round: impl Fn(f64) -> T + Sync,
) {
    assert_eq!(out.len() % distributions.len(), 0, "a part of a row");
    let rows = out.len() / distributions.len();
    for_each_row_chunk(out, 1, GRAIN, |first, out| {
        for (at, out) in (first..).zip(out) {
            let (row, column) = (at / distributions.len(), at % distributions.len());
            // All numbers of a distribution have counters before those of the next one.
            let number = (column * rows + row) as u64;
            *out = round(distributions[column].draw(generator, number));
        }
    });
}

/// Uniform numbers, of which the last one of a counter is used first.
struct Uniforms {
    generator: Philox,
    numbers: [f64; 2],
    left: usize,
}

impl Uniforms {
    fn new(generator: Philox) -> Self {
        Self {
            generator,
            numbers: [0.0; 2],
            left: 0,
        }
    }

    fn next(&mut self) -> f64 {
        if self.left == 0 {
            self.numbers = f64::group(self.generator.next_words());
            self.left = 2;
        }
        self.left -= 1;
        self.numbers[self.left]
    }
}

impl Binomial {
    /// Returns number `index`; NaN if the number of trials is infinite, for which TensorFlow's loop has no end.
    fn draw(&self, generator: Philox, index: u64) -> f64 {
        if self.trials <= 0.0 || self.probability <= 0.0 {
            return 0.0;
        }
        if self.probability >= 1.0 {
            return self.trials;
        }
        if !self.trials.is_finite() || self.probability.is_nan() {
            return f64::NAN;
        }
        let rare = self.draw_rarer(generator, index);
        match self.probability <= 0.5 {
            true => rare,
            false => self.trials - rare,
        }
    }

    fn draw_rarer(&self, generator: Philox, index: u64) -> f64 {
        let counters = if self.is_large {
            RESERVED
        } else {
            RESERVED_BY_SUM
        };
        let mut uniforms = Uniforms::new(generator.skip(index.wrapping_mul(counters)));
        match self.is_large {
            true => by_rejection(&mut uniforms, self.trials, self.rarer),
            false => by_sum(&mut uniforms, self.trials, self.rarer),
        }
    }
}

/// Counts the geometric numbers whose sum is at most the number of trials.
fn by_sum(uniforms: &mut Uniforms, trials: f64, probability: f64) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    loop {
        sum += (uniforms.next().ln() / (-probability).ln_1p()).ceil();
        if sum > trials {
            return count;
        }
        count += 1.0;
    }
}

fn by_rejection(uniforms: &mut Uniforms, trials: f64, probability: f64) -> f64 {
    let deviation = (trials * probability * (1.0 - probability)).sqrt();
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * probability;
    let c = trials * probability + 0.5;
    let quick = 0.92 - 4.2 / b;
    let odds = probability / (1.0 - probability);
    let alpha = (2.83 + 5.1 / b) * deviation;
    let mode = ((trials + 1.0) * probability).floor();
    loop {
        let (u, v) = (uniforms.next() - 0.5, uniforms.next());
        let distance = 0.5 - u.abs();
        let k = ((2.0 * a / distance + b) * u + c).floor();
        if distance >= 0.07 && v <= quick {
            return k;
        }
        if k < 0.0 || k > trials {
            continue;
        }
        let v = (v * alpha / (a / (distance * distance) + b)).ln();
        if v <= log_ratio(trials, mode, odds, k) {
            return k;
        }
    }
}

/// Returns the logarithm of the probability of `k` divided by that of the mode.
fn log_ratio(trials: f64, mode: f64, odds: f64, k: f64) -> f64 {
    let (above_mode, above_k) = (trials - mode + 1.0, trials - k + 1.0);
    (mode + 0.5) * ((mode + 1.0) / (odds * above_mode)).ln()
        + (trials + 1.0) * (above_mode / above_k).ln()
        + (k + 0.5) * (odds * above_k / (k + 1.0)).ln()
        + stirling_tail(mode)
        + stirling_tail(trials - mode)
        - stirling_tail(k)
        - stirling_tail(trials - k)
}

/// Returns the error of Stirling's approximation of the logarithm of `k!`.
fn stirling_tail(k: f64) -> f64 {
    const TAILS: [f64; 10] = [
        0.081_061_466_795_327_2,
        0.041_340_695_955_409_2,
        0.027_677_925_684_998_3,
        0.020_790_672_103_765_09,
        0.016_644_691_189_821_1,
        0.013_876_128_823_070_7,
        0.011_896_709_945_891_7,
        0.010_411_265_261_972,
        0.009_255_462_182_712_73,
        0.008_330_563_433_362_87,
    ];
    if k <= 9.0 {
        return TAILS[k.max(0.0) as usize];
    }
    let square = (k + 1.0) * (k + 1.0);
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the numbers that TensorFlow 2.21 draws on the CPU for the state [5, 0, 7].
    #[test]
    fn numbers_match_tensorflow() {
        let draw = |pairs: &[[f64; 2]], rows: usize| {
            let distributions: Vec<_> = pairs
                .iter()
                .map(|[n, p]| Binomial::new(*n, *p, |x| x))
                .collect();
            let mut out = vec![0.0; rows * pairs.len()];
            binomial(Philox::new(7, [5, 0]), &distributions, &mut out, |x| x);
            out
        };
        assert_eq!(draw(&[[10.0, 0.3]], 5), [4.0, 1.0, 2.0, 4.0, 3.0]);
        let large = [[1e6, 0.3], [1e4, 0.2], [100.0, 0.9], [50.0, 0.6]];
        assert_eq!(draw(&large, 1), [299_998.0, 2073.0, 92.0, 32.0]);
        let mixed = draw(&[[10.0, 0.3], [20.0, 0.9]], 7);
        assert_eq!(mixed[..6], [4.0, 20.0, 1.0, 17.0, 2.0, 17.0]);
        let limits = [[-1.0, 0.5], [3.0, 0.0], [3.0, -1.0], [3.0, 2.0], [3.0, 0.5]];
        assert_eq!(draw(&limits, 1), [0.0, 0.0, 0.0, 3.0, 2.0]);
        assert!(draw(&[[f64::INFINITY, 0.5]], 1)[0].is_nan());
    }

    #[test]
    fn reserved_counters_are_those_of_tensorflow() {
        let found = [(5, 1), (1, 1), (1, 2), (3, 2), (7, 2), (7, 4), (1, 4)]
            .map(|(rows, n)| reserved(rows, n) * RESERVED);
        assert_eq!(
            found,
            [102_400, 51_200, 102_400, 153_600, 256_000, 512_000, 204_800]
        );
    }
}
