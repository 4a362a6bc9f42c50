//! Discrete Fourier transforms of any length, in `f64`. Lengths are divided into their prime factors; if one of these is
//! large, the transform is a convolution of a length that is a power of two (Bluestein's algorithm).

mod axes;
mod chirp;

pub use axes::{Direction, Fourier, complete_rows};

use chirp::Chirp;
use sp_plugin::Complex128;
use std::f64::consts::PI;

/// The largest factor by which a length is divided.
const LARGEST_FACTOR: usize = 31;

/// The transform of vectors of one length.
pub struct Plan {
    len: usize,
    /// The factors of the length, the first of the outermost step.
    factors: Vec<usize>,
    /// The roots of unity `exp(-2 pi i k / len)`.
    roots: Vec<Complex128>,
    chirp: Option<Box<Chirp>>,
}

impl Plan {
    /// Creates the plan.
    pub fn new(len: usize) -> Self {
        let factors = factors(len);
        match factors.iter().all(|it| *it <= LARGEST_FACTOR) {
            true => Self {
                len,
                factors,
                roots: (0..len).map(|k| root(k, len)).collect(),
                chirp: None,
            },
            false => Self {
                len,
                factors: Vec::new(),
                roots: Vec::new(),
                chirp: Some(Box::new(Chirp::new(len))),
            },
        }
    }

    /// Transforms a vector in place; `scratch` is any memory.
    ///
    /// # Panics
    /// Panics if the vector has another length than the plan.
    pub fn transform(&self, x: &mut [Complex128], scratch: &mut Vec<Complex128>) {
        assert_eq!(x.len(), self.len, "vector and plan differ in length");
        match &self.chirp {
            Some(chirp) => chirp.transform(x, scratch),
            None => {
                scratch.clear();
                scratch.extend_from_slice(x);
                self.divide(scratch, 1, x, &self.factors);
            }
        }
    }

    /// Transforms each element of `x` with this step to `out`, whose length is the product of the factors.
    fn divide(&self, x: &[Complex128], step: usize, out: &mut [Complex128], factors: &[usize]) {
        let Some((factor, rest)) = factors.split_first() else {
            out[0] = x[0];
            return;
        };
        let part = out.len() / factor;
        for (index, out) in out.chunks_exact_mut(part).enumerate() {
            self.divide(&x[index * step..], step * factor, out, rest);
        }
        match factor {
            2 => self.combine_two(step, out),
            4 => self.combine_four(step, out),
            _ => self.combine(*factor, step, out),
        }
    }

    fn combine_two(&self, step: usize, out: &mut [Complex128]) {
        let (even, odd) = out.split_at_mut(out.len() / 2);
        for (k, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
            let turned = *odd * self.roots[k * step];
            (*even, *odd) = (*even + turned, *even - turned);
        }
    }

    fn combine_four(&self, step: usize, out: &mut [Complex128]) {
        let part = out.len() / 4;
        for k in 0..part {
            let term = |i: usize| out[i * part + k] * self.roots[i * k * step];
            let [a, b, c, d] = [out[k], term(1), term(2), term(3)];
            let (sum, difference, odd, turned) = (a + c, a - c, b + d, b - d);
            let turned = Complex128::new(turned.im, -turned.re);
            out[k] = sum + odd;
            out[part + k] = difference + turned;
            out[2 * part + k] = sum - odd;
            out[3 * part + k] = difference - turned;
        }
    }

    /// Combines the transforms of `factor` parts by the definition.
    fn combine(&self, factor: usize, step: usize, out: &mut [Complex128]) {
        let (part, turn) = (out.len() / factor, self.len / factor);
        let mut terms = [Complex128::ZERO; LARGEST_FACTOR];
        for k in 0..part {
            for (i, term) in terms[..factor].iter_mut().enumerate() {
                *term = out[i * part + k] * self.roots[i * k * step];
            }
            for q in 0..factor {
                let turned =
                    |(i, term): (usize, &Complex128)| *term * self.roots[i * q % factor * turn];
                let sum = terms[..factor].iter().enumerate().map(turned);
                out[q * part + k] = sum.fold(Complex128::ZERO, |sum, it| sum + it);
            }
        }
    }
}

/// Returns the factors of a length: 4 as often as possible, and prime numbers.
fn factors(mut len: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut divide = |len: &mut usize, factor| {
        while len.is_multiple_of(factor) && *len > 1 {
            factors.push(factor);
            *len /= factor;
        }
    };
    divide(&mut len, 4);
    let mut factor = 2;
    while factor <= LARGEST_FACTOR {
        divide(&mut len, factor);
        factor += 1;
    }
    if len > 1 {
        factors.push(len);
    }
    factors
}

/// Returns `exp(-2 pi i k / len)`, of an angle of at most an eighth of a turn, so that roots are symmetric.
fn root(k: usize, len: usize) -> Complex128 {
    // Eighths of an element, so that the limits of the octants are integers.
    let turn = 8 * (k % len.max(1)) as u64;
    let len = len as u64;
    let (turn, is_above) = if turn > 4 * len {
        (8 * len - turn, true)
    } else {
        (turn, false)
    };
    let (turn, is_left) = if turn > 2 * len {
        (4 * len - turn, true)
    } else {
        (turn, false)
    };
    let (turn, is_steep) = if turn > len {
        (2 * len - turn, true)
    } else {
        (turn, false)
    };
    let (sine, cosine) = (PI * turn as f64 / (4 * len) as f64).sin_cos();
    let (sine, cosine) = if is_steep {
        (cosine, sine)
    } else {
        (sine, cosine)
    };
    let re = if is_left { -cosine } else { cosine };
    Complex128::new(re, if is_above { sine } else { -sine })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes a transform by the definition.
    pub fn naive(x: &[Complex128]) -> Vec<Complex128> {
        let term = |k: usize, i: usize| x[i] * root(i * k % x.len(), x.len());
        let sum = |k| (0..x.len()).fold(Complex128::ZERO, |sum, i| sum + term(k, i));
        (0..x.len()).map(sum).collect()
    }

    #[test]
    fn transforms_match_the_definition() {
        let lens = (1..=70).chain([96, 121, 128, 211, 240, 256, 257, 1009]);
        for len in lens {
            let x: Vec<Complex128> = (0..len)
                .map(|i| Complex128::new((i * 7919 % 23) as f64 - 11.0, (i * 31 % 17) as f64))
                .collect();
            let (expected, mut found) = (naive(&x), x);
            Plan::new(len).transform(&mut found, &mut Vec::new());
            for (found, expected) in found.iter().zip(&expected) {
                assert!(
                    (*found - *expected).abs() < 1e-12 * len as f64 * 20.0,
                    "{len}: {found:?}, not {expected:?}"
                );
            }
        }
    }

    #[test]
    fn roots_are_those_of_unity() {
        for len in 1..50_usize {
            for k in 0..len {
                let angle = -2.0 * PI * k as f64 / len as f64;
                let expected = Complex128::new(angle.cos(), angle.sin());
                assert!((root(k, len) - expected).abs() < 1e-14, "{k} of {len}");
            }
        }
        assert_eq!(root(1, 4), Complex128::new(0.0, -1.0));
        assert_eq!(root(3, 6), Complex128::new(-1.0, 0.0));
    }

    #[test]
    fn factors_have_the_length_as_product() {
        for len in 1..3000 {
            assert_eq!(factors(len).iter().product::<usize>(), len);
        }
        assert_eq!(factors(48), [4, 4, 3]);
        assert_eq!(factors(74), [2, 37]);
    }
}
