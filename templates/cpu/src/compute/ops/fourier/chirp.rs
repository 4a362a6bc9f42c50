//! Transforms of lengths with large prime factors, as convolutions (Bluestein's algorithm).

use super::lanes::{Numbers, Planes};
use super::{LANES, Part, Plan, root};
use crate::compute::machine::simd::Isa;
use sp_plugin::allocation;
use std::sync::Arc;

/// The transform of vectors of one length, as a convolution with a chirp.
pub struct Chirp<T: Part> {
    /// The numbers `exp(-pi i k^2 / len)`.
    chirp: Vec<[T; 2]>,
    /// The transform of the conjugate chirp, divided by its length.
    kernel: Vec<[T; 2]>,
    plan: Arc<Plan<T>>,
}

impl<T: Part> Chirp<T> {
    /// Creates the plan.
    pub fn new(len: usize) -> Self {
        let padded = (2 * len - 1).next_power_of_two();
        // The product may exceed 64 bits, and roots repeat after twice the length.
        let square = |k: usize| (k as u128 * k as u128 % (2 * len as u128)) as usize;
        let chirp: Vec<[f64; 2]> = allocation::collect((0..len).map(|k| root(square(k), 2 * len)));
        let kernel = transformed_chirp(&chirp, padded);
        let rounded = |x: &[f64; 2]| [T::constant(x[0]), T::constant(x[1])];
        Self {
            chirp: allocation::collect(chirp.iter().map(rounded)),
            kernel: allocation::collect(kernel.iter().map(rounded)),
            plan: Plan::new(padded),
        }
    }

    /// Transforms vectors in place.
    pub fn transform(&self, isa: Isa, lanes: usize, x: &mut Planes<T>) {
        let len = self.kernel.len() * lanes;
        let (mut work, mut scratch) = (Planes::new(len), Planes::new(len));
        let used = self.chirp.len() * lanes;
        multiply(isa, lanes, &self.chirp, x);
        for (work, x) in [(&mut work.re, &x.re), (&mut work.im, &x.im)] {
            work[..used].copy_from_slice(&x[..used]);
            work[used..].fill(T::ZERO);
        }
        self.plan.transform(isa, lanes, &mut work, &mut scratch);
        multiply(isa, lanes, &self.kernel, &mut work);
        self.plan.invert(isa, lanes, &mut work, &mut scratch);
        x.re[..used].copy_from_slice(&work.re[..used]);
        x.im[..used].copy_from_slice(&work.im[..used]);
        multiply(isa, lanes, &self.chirp, x);
    }
}

/// Returns the transform of the conjugate of a chirp, divided by its length.
fn transformed_chirp(chirp: &[[f64; 2]], padded: usize) -> Vec<[f64; 2]> {
    let (mut kernel, mut scratch) = (Planes::<f64>::new(padded), Planes::new(padded));
    kernel.re.fill(0.0);
    kernel.im.fill(0.0);
    for (k, [re, im]) in chirp.iter().enumerate() {
        for index in [k, (padded - k) % padded] {
            kernel.re[index] = re / padded as f64;
            kernel.im[index] = -im / padded as f64;
        }
    }
    Plan::new(padded).transform(Isa::current(), 1, &mut kernel, &mut scratch);
    let parts = kernel.re.iter().zip(kernel.im.iter());
    allocation::collect(parts.map(|(re, im)| [*re, *im]))
}

/// Multiplies the elements `k` of all vectors with `factors[k]`.
fn multiply<T: Part>(isa: Isa, lanes: usize, factors: &[[T; 2]], x: &mut Planes<T>) {
    isa.vectorize(
        #[inline(always)]
        || match lanes {
            LANES => multiply_lanes::<T, LANES>(lanes, factors, x),
            _ => multiply_lanes::<T, 1>(lanes, factors, x),
        },
    );
}

#[inline(always)]
fn multiply_lanes<T: Part, const N: usize>(lanes: usize, factors: &[[T; 2]], x: &mut Planes<T>) {
    for (k, factor) in factors.iter().enumerate() {
        for start in (k * lanes..(k + 1) * lanes).step_by(N) {
            let product = Numbers::<T, N>::load(x, start).times(*factor);
            product.store(x, start);
        }
    }
}
