//! Transforms of lengths with large prime factors, as convolutions (Bluestein's algorithm).

use super::lanes::Planes;
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
        let (mut kernel, mut scratch) = (Planes::default(), Planes::default());
        kernel.resize(padded);
        for (k, it) in chirp.iter().enumerate() {
            let scaled = it.conjugate().scale(1.0 / padded as f64);
            kernel.set(k, scaled);
            kernel.set((padded - k) % padded, scaled);
        }
        plan.transform(1, &mut kernel, &mut scratch);
        Self {
            chirp,
            kernel: (0..padded).map(|k| kernel.get(k)).collect(),
            plan,
        }
    }

    /// Transforms vectors in place; `scratch` is any memory.
    pub fn transform(&self, lanes: usize, x: &mut Planes, scratch: &mut Planes) {
        let mut work = Planes::default();
        work.resize(self.kernel.len() * lanes);
        for index in 0..x.re.len() {
            work.set(index, x.get(index) * self.chirp[index / lanes]);
        }
        self.plan.transform(lanes, &mut work, scratch);
        for index in 0..work.re.len() {
            let product = work.get(index) * self.kernel[index / lanes];
            // The conjugate of a transform of conjugates is the inverse transform.
            work.set(index, product.conjugate());
        }
        self.plan.transform(lanes, &mut work, scratch);
        for index in 0..x.re.len() {
            x.set(
                index,
                work.get(index).conjugate() * self.chirp[index / lanes],
            );
        }
    }
}
