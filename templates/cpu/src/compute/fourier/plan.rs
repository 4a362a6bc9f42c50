//! Plans of transforms, which later calls use again.

use super::chirp::Chirp;
use super::lanes::Planes;
use super::passes::Factors;
use super::{Part, root};
use crate::compute::simd::Isa;
use std::sync::{Arc, Mutex};

/// The largest factor by which a length is divided.
const LARGEST_FACTOR: usize = 31;

/// The transform of vectors of one length.
pub struct Plan<T: Part> {
    /// The length.
    pub len: usize,
    method: Method<T>,
    /// The parts of `-i exp(-pi i k / len)`, which make a transform of real numbers of one of half their length.
    pub half_roots: Vec<[T; 2]>,
}

enum Method<T: Part> {
    Factors(Factors<T>),
    Chirp(Chirp<T>),
}

impl<T: Part> Plan<T> {
    /// Returns the plan for a length.
    pub fn new(len: usize) -> Arc<Self> {
        T::plans().find(len).unwrap_or_else(|| {
            let plan = Arc::new(Self::create(len));
            T::plans().add(&plan);
            plan
        })
    }

    fn create(len: usize) -> Self {
        let factors = factors(len);
        let method = match factors.iter().all(|it| *it <= LARGEST_FACTOR) {
            true => Method::Factors(Factors::new(factors)),
            false => Method::Chirp(Chirp::new(len)),
        };
        let half_root = |k| {
            let [re, im] = root(k, 2 * len);
            [im, T::negated(re)]
        };
        Self {
            len,
            method,
            half_roots: (0..len / 2 + 1).map(half_root).collect(),
        }
    }

    /// Transforms vectors in place; `scratch` is as large as `x`, which is not smaller than the vectors.
    pub fn transform(&self, isa: Isa, lanes: usize, x: &mut Planes<T>, scratch: &mut Planes<T>) {
        match &self.method {
            Method::Chirp(chirp) => chirp.transform(isa, lanes, x),
            Method::Factors(factors) => isa.vectorize(
                #[inline(always)]
                || factors.transform(lanes, x, scratch),
            ),
        }
    }
}

/// The plans of the last lengths.
pub struct Plans<T: Part>(Mutex<Vec<Arc<Plan<T>>>>);

/// The most plans that are stored.
const MAX_PLANS: usize = 16;
/// The largest length of which a plan is stored. Longer vectors take much longer than their plan.
const MAX_STORED: usize = 1 << 16;

impl<T: Part> Plans<T> {
    /// Creates the list without plans.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns the plan for a length, or `None` if it is not stored. Also if another thread uses the list: it may be one that a
    /// forked child lacks.
    fn find(&self, len: usize) -> Option<Arc<Plan<T>>> {
        let plans = self.0.try_lock().ok()?;
        plans.iter().find(|it| it.len == len).cloned()
    }

    /// Stores a plan in place of the oldest one, unless its length is too large.
    fn add(&self, plan: &Arc<Plan<T>>) {
        if plan.len > MAX_STORED {
            return;
        }
        if let Ok(mut plans) = self.0.try_lock() {
            if plans.len() == MAX_PLANS {
                plans.remove(0);
            }
            plans.push(plan.clone());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_the_length_as_product() {
        for len in 1..3000 {
            assert_eq!(factors(len).iter().product::<usize>(), len);
        }
        assert_eq!(factors(48), [4, 4, 3]);
        assert_eq!(factors(74), [2, 37]);
    }

    #[test]
    fn plans_of_the_last_lengths_are_stored() {
        let plans = Plans::<f64>::new();
        for len in 1..=MAX_PLANS + 1 {
            plans.add(&Arc::new(Plan::create(len)));
        }
        assert!(plans.find(1).is_none());
        assert!((2..=MAX_PLANS + 1).all(|len| plans.find(len).is_some_and(|it| it.len == len)));
        plans.add(&Arc::new(Plan::create(MAX_STORED + 1)));
        assert!(plans.find(MAX_STORED + 1).is_none());
        let _used = plans.0.lock();
        assert!(plans.find(2).is_none());
    }
}
