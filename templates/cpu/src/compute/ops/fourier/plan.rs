//! Plans of transforms, which later calls use again.

use super::chirp::Chirp;
use super::lanes::Planes;
use super::passes::Factors;
use super::{Part, root};
use crate::compute::machine::simd::Isa;
use sp_plugin::allocation;
use std::sync::{Arc, Mutex};

/// The largest factor by which a length is divided.
const LARGEST_FACTOR: usize = 31;

/// The transform of vectors of one length.
pub struct Plan<T: Part> {
    /// The length.
    pub len: usize,
    method: Method<T>,
    /// The parts of `-i exp(-pi i k / len)`, which convert a transform of this length to that of twice as many real numbers;
    /// none in other plans.
    pub half_roots: Vec<[T; 2]>,
}

enum Method<T: Part> {
    Factors(Factors<T>),
    Chirp(Chirp<T>),
}

impl<T: Part> Plan<T> {
    /// Returns the plan for a length.
    pub fn new(len: usize) -> Arc<Self> {
        Self::find_or_create(len, false)
    }

    /// Returns the plan for a length, with [`Plan::half_roots`].
    pub fn with_half_roots(len: usize) -> Arc<Self> {
        Self::find_or_create(len, true)
    }

    fn find_or_create(len: usize, has_half_roots: bool) -> Arc<Self> {
        let is_wanted = |it: &Self| it.len == len && it.half_roots.is_empty() != has_half_roots;
        T::plans().find(is_wanted).unwrap_or_else(|| {
            let plan = Arc::new(Self::create(len, has_half_roots));
            T::plans().add(&plan);
            plan
        })
    }

    fn create(len: usize, has_half_roots: bool) -> Self {
        let factors = factors(len);
        let method = match factors.iter().all(|it| *it <= LARGEST_FACTOR) {
            true => Method::Factors(Factors::new(factors)),
            false => Method::Chirp(Chirp::new(len)),
        };
        let half_root = |k| {
            let [re, im] = root(k, 2 * len);
            [im, T::negated(re)]
        };
        let half_roots = if has_half_roots { len / 2 + 1 } else { 0 };
        Self {
            len,
            method,
            half_roots: allocation::collect((0..half_roots).map(half_root)),
        }
    }

    /// Returns the approximate number of complex numbers in the plan.
    fn size(&self) -> usize {
        match self.method {
            // The length of the convolution is up to four times that of the transform, and has a plan of its own.
            Method::Chirp(_) => 8 * self.len,
            Method::Factors(_) => self.len + self.half_roots.len(),
        }
    }

    /// Computes the inverse of [`Plan::transform`] but for the division by the length: the transform of swapped parts, swapped.
    pub fn invert(&self, isa: Isa, lanes: usize, x: &mut Planes<T>, scratch: &mut Planes<T>) {
        x.swap_parts();
        self.transform(isa, lanes, x, scratch);
        x.swap_parts();
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
/// The most numbers in all stored plans of one type: 16 MiB of `f64`. The roots of a long vector take several times as long as
/// its transform.
const MAX_NUMBERS: usize = 1 << 20;

impl<T: Part> Plans<T> {
    /// Creates the list without plans.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns a wanted plan, or `None` if it is not stored or the list is locked. It does not wait: a forked child lacks the
    /// thread that holds the lock.
    fn find(&self, is_wanted: impl Fn(&Plan<T>) -> bool) -> Option<Arc<Plan<T>>> {
        let plans = self.0.try_lock().ok()?;
        plans.iter().find(|it| is_wanted(it)).cloned()
    }

    /// Stores a plan in place of the oldest ones, unless it is too large. Two threads may store equal ones.
    fn add(&self, plan: &Arc<Plan<T>>) {
        let Ok(mut plans) = self.0.try_lock() else {
            return;
        };
        if plan.size() > MAX_NUMBERS {
            return;
        }
        plans.push(plan.clone());
        let size = |plans: &[Arc<Plan<T>>]| plans.iter().map(|it| it.size()).sum::<usize>();
        while plans.len() > MAX_PLANS || size(&plans) > MAX_NUMBERS {
            plans.remove(0);
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

    fn store(plans: &Plans<f64>, len: usize) {
        plans.add(&Arc::new(Plan::create(len, false)));
    }

    #[test]
    fn plans_of_the_last_lengths_are_stored() {
        let plans = Plans::<f64>::new();
        for len in 1..=MAX_PLANS + 1 {
            store(&plans, len);
        }
        let has = |len| plans.find(|it| it.len == len).is_some();
        assert!(!has(1));
        assert!((2..=MAX_PLANS + 1).all(has));
        let _used = plans.0.lock();
        assert!(!has(2));
    }

    #[test]
    fn stored_plans_have_limited_size() {
        let plans = Plans::<f64>::new();
        let has = |len| plans.find(|it| it.len == len).is_some();
        store(&plans, 2 * MAX_NUMBERS);
        assert!(!has(2 * MAX_NUMBERS));
        store(&plans, MAX_NUMBERS / 2);
        store(&plans, MAX_NUMBERS / 4);
        assert!(has(MAX_NUMBERS / 2) && has(MAX_NUMBERS / 4));
        store(&plans, MAX_NUMBERS / 8 * 3);
        assert!(!has(MAX_NUMBERS / 2) && has(MAX_NUMBERS / 4));
    }

    #[test]
    fn plan_of_real_numbers_has_half_roots() {
        assert!(Plan::<f32>::new(12).half_roots.is_empty());
        assert_eq!(Plan::<f32>::with_half_roots(12).half_roots.len(), 7);
    }
}
