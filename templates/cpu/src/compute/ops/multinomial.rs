//! Random classes, drawn by the logarithms of their weights.

use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::ops::random::{Philox, uniform};
use sp_plugin::allocation;

/// The number of random numbers that are drawn at a time.
const BLOCK: usize = 256;

/// Writes `samples` classes for each row of `logits`. They are those of TensorFlow's CPU, unless it divides the rows
/// between threads: then rows of different threads share random numbers there.
///
/// # Panics
/// Panics if `logits` and `out` do not consist of as many rows.
pub fn multinomial<T: Copy + Into<f64> + Sync, U: From<i32> + Send>(
    generator: Philox,
    classes: usize,
    logits: &[T],
    samples: usize,
    out: &mut [U],
) {
    let rows = logits.len() / classes;
    assert_eq!(
        out.len(),
        rows * samples,
        "rows of logits and samples differ"
    );
    if out.is_empty() {
        return;
    }
    for_each_row_chunk(out, samples, cost::Expensive.grain(), |first, out| {
        for (row, out) in (first..).zip(out.chunks_exact_mut(samples)) {
            let sums = running_weights(&logits[row * classes..][..classes]);
            for (block, out) in out.chunks_mut(BLOCK).enumerate() {
                draw(generator, row * samples + block * BLOCK, &sums, out);
            }
        }
    });
}

/// Writes the classes of the numbers from index `first` on.
fn draw<U: From<i32>>(generator: Philox, first: usize, sums: &[f64], out: &mut [U]) {
    // A counter has two numbers.
    let (mut numbers, odd) = ([0.0; BLOCK + 1], first % 2);
    let numbers = &mut numbers[..odd + out.len()];
    uniform::<f64>(generator.skip(first as u64 / 2), numbers);
    let total = sums.last().copied().unwrap_or_default();
    for (out, number) in out.iter_mut().zip(&numbers[odd..]) {
        let class = sums.partition_point(|sum| *sum <= number * total);
        // The number of classes is at most `i32::MAX`, as the kernel checks.
        *out = U::from(class as i32);
    }
}

/// Returns the sums of the weights up to each class. Only finite logits have a weight.
fn running_weights<T: Copy + Into<f64>>(logits: &[T]) -> Vec<f64> {
    let logits = logits.iter().map(|it| (*it).into());
    let finite = logits.clone().filter(|it: &f64| it.is_finite());
    let largest = finite.fold(f64::MIN, f64::max);
    let mut sum = 0.0;
    let weights = logits.map(|it| {
        if it.is_finite() {
            (it - largest).exp()
        } else {
            0.0
        }
    });
    allocation::collect(weights.map(|weight| {
        sum += weight;
        sum
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_match_the_first_sum_above_the_number() {
        let logits = [0.0, f32::NEG_INFINITY, 2.0, f32::NAN, 1.0, 1.0, 1.0, 1.0];
        let generator = Philox::new(7, [3, 9]);
        let (mut found, mut numbers) = ([0_i64; 9998], [0.0; 9998]);
        multinomial(generator, 4, &logits, 4999, &mut found);
        uniform::<f64>(generator, &mut numbers);
        for (index, (class, number)) in found.iter().zip(numbers).enumerate() {
            let expected = match index < 4999 {
                true if number * (1.0 + 2.0_f64.exp()) < 1.0 => 0,
                true => 2,
                false => (number * 4.0) as i64,
            };
            assert_eq!(*class, expected, "{index}: {number}");
        }
    }

    #[test]
    fn row_without_finite_logits_has_the_class_after_the_last() {
        let mut out = [0_i32; 2];
        let logits = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        multinomial(Philox::new(1, [2, 3]), 3, &logits, 2, &mut out);
        assert_eq!(out, [3, 3]);
    }
}
