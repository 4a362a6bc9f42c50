//! Discrete Fourier transforms of any length, in `f64`. Lengths are divided into their prime factors; if one of these is
//! large, the transform is a convolution of a length that is a power of two (Bluestein's algorithm).

mod axes;
mod chirp;
mod lanes;

pub use axes::{Direction, Fourier, complete_rows};
pub use lanes::Planes;

use super::simd::Isa;
use chirp::Chirp;
use lanes::Factors;
use sp_plugin::Complex128;
use std::f64::consts::PI;

/// The largest factor by which a length is divided.
const LARGEST_FACTOR: usize = 31;

/// The transform of vectors of one length, with the instruction set of the thread that creates it.
pub struct Plan {
    len: usize,
    isa: Isa,
    method: Method,
}

enum Method {
    Factors(Factors),
    Chirp(Box<Chirp>),
}

impl Plan {
    /// Creates the plan.
    pub fn new(len: usize) -> Self {
        let factors = factors(len);
        let method = match factors.iter().all(|it| *it <= LARGEST_FACTOR) {
            true => Method::Factors(Factors::new(factors)),
            false => Method::Chirp(Box::new(Chirp::new(len))),
        };
        let isa = Isa::current();
        Self { len, isa, method }
    }

    /// Transforms vectors in place; `scratch` is any memory.
    ///
    /// # Panics
    /// Panics if the vectors have another length than the plan.
    pub fn transform(&self, lanes: usize, x: &mut Planes, scratch: &mut Planes) {
        let len = self.len * lanes;
        assert_eq!([x.re.len(), x.im.len()], [len; 2], "wrong length");
        match &self.method {
            Method::Chirp(chirp) => chirp.transform(lanes, x, scratch),
            Method::Factors(factors) => {
                scratch.resize(len);
                self.isa.vectorize(
                    #[inline(always)]
                    || factors.transform(lanes, x, scratch),
                );
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
    use crate::compute::tests::on_every_isa;

    /// Computes a transform by the definition.
    pub fn naive(x: &[Complex128]) -> Vec<Complex128> {
        let term = |k: usize, i: usize| x[i] * root(i * k % x.len(), x.len());
        let sum = |k| (0..x.len()).fold(Complex128::ZERO, |sum, i| sum + term(k, i));
        (0..x.len()).map(sum).collect()
    }

    fn numbers(len: usize) -> Vec<Complex128> {
        (0..len)
            .map(|i| Complex128::new((i * 7919 % 23) as f64 - 11.0, (i * 31 % 17) as f64))
            .collect()
    }

    /// Transforms vectors at once.
    fn transform_lanes(x: &[Vec<Complex128>]) -> Vec<Vec<Complex128>> {
        let (len, lanes) = (x[0].len(), x.len());
        let (mut planes, mut scratch) = (Planes::default(), Planes::default());
        planes.resize(len * lanes);
        (0..len * lanes).for_each(|index| planes.set(index, x[index % lanes][index / lanes]));
        Plan::new(len).transform(lanes, &mut planes, &mut scratch);
        let lane = |lane| (0..len).map(|k| planes.get(k * lanes + lane)).collect();
        (0..lanes).map(lane).collect()
    }

    /// Returns the bits of the parts.
    fn bits(x: &[Complex128]) -> Vec<[u64; 2]> {
        x.iter().map(|x| [x.re.to_bits(), x.im.to_bits()]).collect()
    }

    #[test]
    fn each_lane_has_the_same_bits_on_every_isa() {
        for len in [1, 2, 3, 8, 15, 64, 74, 96, 128, 143, 256] {
            let vectors: Vec<_> = numbers(16 * len).chunks(len).map(<[_]>::to_vec).collect();
            let alone = |x: &Vec<_>| bits(&transform_lanes(std::slice::from_ref(x))[0]);
            let expected: Vec<_> = vectors.iter().map(alone).collect();
            on_every_isa(|isa| {
                for lanes in [1, 2, 7, 8, 9, 16] {
                    for (found, expected) in
                        transform_lanes(&vectors[..lanes]).iter().zip(&expected)
                    {
                        assert_eq!(&bits(found), expected, "{isa}: {lanes} of {len}");
                    }
                }
            });
        }
    }

    #[test]
    fn transforms_match_the_definition() {
        let lens = (1..=70).chain([96, 121, 128, 211, 240, 256, 257, 1009]);
        for len in lens {
            let x = numbers(len);
            let (expected, found) = (naive(&x), &transform_lanes(&[x])[0]);
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
