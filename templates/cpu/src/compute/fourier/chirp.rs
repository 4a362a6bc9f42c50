//! Transforms of lengths with large prime factors, as convolutions (Bluestein's algorithm).

use super::{Plan, root};
use sp_plugin::Complex128;

/// The transform of vectors of one length, as a convolution with a chirp.
pub struct Chirp {
    /// The numbers `exp(-pi i k^2 / len)`.
    chirp: Vec<Complex128>,
    /// The transform of the conjugate chirp, divided by its length.
    kernel: Vec<Complex128>,
    plan: Plan,
}

impl Chirp {
    /// Creates the plan.
    pub fn new(len: usize) -> Self {
        let padded = (2 * len - 1).next_power_of_two();
        // The product may exceed 64 bits, and roots repeat after twice the length.
        let square = |k: usize| (k as u128 * k as u128 % (2 * len as u128)) as usize;
        let chirp: Vec<Complex128> = (0..len).map(|k| root(square(k), 2 * len)).collect();
        let plan = Plan::new(padded);
        let mut kernel = vec![Complex128::ZERO; padded];
        for (k, it) in chirp.iter().enumerate() {
            let scaled = it.conjugate().scale(1.0 / padded as f64);
            kernel[k] = scaled;
            kernel[(padded - k) % padded] = scaled;
        }
        plan.transform(&mut kernel, &mut Vec::new());
        Self {
            chirp,
            kernel,
            plan,
        }
    }

    /// Transforms a vector in place; `scratch` is any memory.
    pub fn transform(&self, x: &mut [Complex128], scratch: &mut Vec<Complex128>) {
        let mut work = vec![Complex128::ZERO; self.kernel.len()];
        for ((work, x), chirp) in work.iter_mut().zip(&*x).zip(&self.chirp) {
            *work = *x * *chirp;
        }
        self.plan.transform(&mut work, scratch);
        for (work, kernel) in work.iter_mut().zip(&self.kernel) {
            // The conjugate of a transform of conjugates is the inverse transform.
            *work = (*work * *kernel).conjugate();
        }
        self.plan.transform(&mut work, scratch);
        for ((x, work), chirp) in x.iter_mut().zip(&work).zip(&self.chirp) {
            *x = work.conjugate() * *chirp;
        }
    }
}
