//! Softmax along the last dim, its logarithm, and the cross entropy with probabilities as labels.

use crate::compute::loops::reduce::fold_row;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::{for_each_row_chunk, for_each_row_chunk2};
use crate::compute::machine::simd::Isa;
use crate::compute::machine::workspace::Buffer;
use crate::compute::scalar::arith::greatest;
use crate::compute::scalar::elementary::Elementary;

#[inline(always)]
fn identity<T>(x: T) -> T {
    x
}

/// Writes `x` minus its largest element.
#[inline(always)]
fn shift<T: Elementary>(x: &[T], out: &mut [T]) {
    let max = fold_row(x, &identity, x[0], &greatest);
    out.iter_mut().zip(x).for_each(
        #[inline(always)]
        |(out, x)| *out = x.minus(max),
    );
}

/// Computes `softmax` of each row of `width` elements; `is_log` computes its logarithm.
///
/// # Panics
/// Panics if `width` is 0, or the slices differ in length or are not rows.
pub fn softmax<T: Elementary>(x: &[T], width: usize, is_log: bool, out: &mut [T]) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    let isa = Isa::current();
    for_each_row_chunk(out, width, cost::Moderate.grain(), |first, out| {
        let x = &x[first * width..][..out.len()];
        isa.vectorize(
            #[inline(always)]
            || {
                if width <= SHORT {
                    return short_rows(x, width, is_log, out);
                }
                for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
                    shift(x, out);
                    match is_log {
                        true => log_row(out),
                        false => exp_row(out),
                    }
                }
            },
        );
    });
}

/// The largest number of elements of a row that is folded in one chain.
const NARROW: usize = 32;
/// The largest number of elements of a row whose exponentials are computed together with those of other rows. In a loop over
/// one row the last elements, which are fewer than a vector has lanes, take most of the time.
const SHORT: usize = 256;
/// The number of elements of short rows that are computed together, in the first cache.
const TOGETHER: usize = 1024;

/// Computes rows of at most [`SHORT`] elements.
#[inline(always)]
fn short_rows<T: Elementary>(x: &[T], width: usize, is_log: bool, out: &mut [T]) {
    let (mut powers, mut of_rows) = ([T::ZERO; TOGETHER], [T::ZERO; TOGETHER]);
    let together = TOGETHER / width * width;
    for (x, out) in x.chunks(together).zip(out.chunks_mut(together)) {
        let powers = &mut powers[..out.len()];
        let of_rows = &mut of_rows[..out.len() / width];
        for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
            let max = fold_short(x, x[0], greatest);
            for (out, x) in out.iter_mut().zip(x) {
                *out = x.minus(max);
            }
        }
        for (power, x) in powers.iter_mut().zip(&*out) {
            *power = x.exp();
        }
        for (sum, powers) in of_rows.iter_mut().zip(powers.chunks_exact(width)) {
            *sum = fold_short(powers, T::ZERO, T::plus);
        }
        finish_rows(of_rows, powers, is_log, out);
    }
}

/// Writes the results of rows from the sums of their powers.
#[inline(always)]
fn finish_rows<T: Elementary>(sums: &mut [T], powers: &[T], is_log: bool, out: &mut [T]) {
    let width = out.len() / sums.len();
    for sum in sums.iter_mut() {
        *sum = if is_log { sum.ln() } else { T::ONE.over(*sum) };
    }
    let rows = out.chunks_exact_mut(width).zip(powers.chunks_exact(width));
    for ((out, powers), of_row) in rows.zip(sums) {
        for (out, power) in out.iter_mut().zip(powers) {
            *out = match is_log {
                true => out.minus(*of_row),
                false => power.times(*of_row),
            };
        }
    }
}

/// Folds a row that is not empty. `empty` changes no total.
#[inline(always)]
fn fold_short<T: Copy>(x: &[T], empty: T, combine: impl Fn(T, T) -> T) -> T {
    if x.len() > NARROW {
        return fold_row(x, &identity, empty, &combine);
    }
    let mut total = x[0];
    for x in &x[1..] {
        total = combine(total, *x);
    }
    total
}

/// Divides the exponentials by their sum: by a product, as TensorFlow does.
#[inline(always)]
fn exp_row<T: Elementary>(out: &mut [T]) {
    out.iter_mut().for_each(
        #[inline(always)]
        |x| *x = x.exp(),
    );
    let factor = T::ONE.over(fold_row(out, &identity, T::ZERO, &T::plus));
    out.iter_mut().for_each(
        #[inline(always)]
        |x| *x = x.times(factor),
    );
}

#[inline(always)]
fn log_row<T: Elementary>(out: &mut [T]) {
    let log = fold_row(out, &T::exp, T::ZERO, &T::plus).ln();
    out.iter_mut().for_each(
        #[inline(always)]
        |x| *x = x.minus(log),
    );
}

/// Computes for each row `loss = sum(labels * (ln(sum(exp(x))) - x))` and `gradient = softmax(x) - labels`, where `x`
/// is the logits minus their largest one. `gradient` has the labels before the call.
///
/// # Panics
/// Panics if `width` is 0, or the slices are not rows of `width` elements and one loss for each.
pub fn softmax_cross_entropy<T: Elementary>(
    x: &[T],
    width: usize,
    loss: &mut [T],
    gradient: &mut [T],
) {
    assert_eq!(
        x.len(),
        gradient.len(),
        "logits and gradient differ in length"
    );
    let isa = Isa::current();
    for_each_row_chunk2(
        (gradient, width),
        (loss, 1),
        cost::Moderate.grain(),
        |first, gradient, loss| {
            let x = &x[first * width..][..gradient.len()];
            isa.vectorize(
                #[inline(always)]
                || {
                    let rows = x.chunks_exact(width).zip(gradient.chunks_exact_mut(width));
                    let mut shifted = Buffer::new(width);
                    for ((x, labels), loss) in rows.zip(loss) {
                        shift(x, &mut shifted);
                        *loss = cross_entropy_row(&shifted, labels);
                    }
                },
            );
        },
    );
}

/// Returns the loss of one row, and replaces the labels by the gradient.
#[inline(always)]
fn cross_entropy_row<T: Elementary>(x: &[T], labels: &mut [T]) -> T {
    let sum = fold_row(x, &T::exp, T::ZERO, &T::plus);
    let log = sum.ln();
    let mut loss = T::ZERO;
    for (x, label) in x.iter().zip(labels) {
        // A label of 0 contributes nothing, also for a logit of -infinity, for which TensorFlow's CPU returns NaN.
        let term = label.times(log.minus(*x));
        loss = loss.plus(if *label == T::ZERO { T::ZERO } else { term });
        *label = x.exp().over(sum).minus(*label);
    }
    loss
}
