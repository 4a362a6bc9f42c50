//! Transforms of vectors of complex or real numbers, by transforms of complex ones.

use super::lanes::{Numbers, Planes};
use super::plan::Plan;
use super::{Direction, LANES, Part};
use crate::compute::machine::simd::Isa;
use std::sync::Arc;

/// The elements of the operand and of the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Complex numbers.
    Complex(Direction),
    /// Real numbers, and the first `len / 2 + 1` frequencies.
    FromReal,
    /// The first `len / 2 + 1` frequencies, and real numbers.
    ToReal,
}

/// The transform of vectors of one length, with the instruction set of the thread that creates it.
///
/// An even number of real numbers is transformed as half as many complex ones, whose parts they are.
pub struct Line<T: Part> {
    kind: Kind,
    /// The number of values, of which there may be fewer frequencies.
    len: usize,
    plan: Arc<Plan<T>>,
    /// The instruction set.
    pub isa: Isa,
}

impl<T: Part> Line<T> {
    /// Creates the transform.
    pub fn new(kind: Kind, len: usize) -> Self {
        let is_halved = !matches!(kind, Kind::Complex(_)) && len.is_multiple_of(2);
        Self {
            kind,
            len,
            plan: match is_halved {
                true => Plan::with_half_roots(len / 2),
                false => Plan::new(len),
            },
            isa: Isa::current(),
        }
    }

    /// Returns the number of parts of an operand and of a result.
    pub fn widths(&self) -> [usize; 2] {
        let half = 2 * (self.len / 2 + 1);
        match self.kind {
            Kind::Complex(_) => [2 * self.len; 2],
            Kind::FromReal => [self.len, half],
            Kind::ToReal => [half, self.len],
        }
    }

    /// Returns planes for vectors, and the scratch memory.
    pub fn planes(&self, lanes: usize) -> [Planes<T>; 2] {
        let len = (self.plan.len + 1) * lanes;
        [Planes::new(len), Planes::new(len)]
    }

    /// Returns the number that [`Line::transform`] leaves to multiply the results with.
    pub fn scale(&self) -> T {
        T::constant(match self.kind {
            Kind::Complex(Direction::Forward) => 1.0,
            Kind::FromReal if self.is_halved() => 0.5,
            Kind::FromReal => 1.0,
            Kind::ToReal | Kind::Complex(Direction::Inverse) => 1.0 / self.len as f64,
        })
    }

    fn is_halved(&self) -> bool {
        self.plan.len != self.len
    }

    /// Transforms vectors in place. Pairs of real numbers are the parts of an element.
    pub fn transform(&self, lanes: usize, [x, scratch]: &mut [Planes<T>; 2]) {
        let is_halved = self.is_halved();
        match self.kind {
            Kind::Complex(Direction::Forward) => self.forward(lanes, x, scratch),
            Kind::Complex(Direction::Inverse) => self.inverse(lanes, x, scratch),
            Kind::FromReal if is_halved => {
                self.forward(lanes, x, scratch);
                self.join_halves(Direction::Forward, lanes, x);
            }
            Kind::FromReal => {
                spread_pairs(self.len, lanes, x);
                self.forward(lanes, x, scratch);
            }
            Kind::ToReal if is_halved => {
                self.join_halves(Direction::Inverse, lanes, x);
                self.inverse(lanes, x, scratch);
            }
            Kind::ToReal => {
                add_conjugates(self.len, lanes, x);
                self.inverse(lanes, x, scratch);
                collect_pairs(self.len, lanes, x);
            }
        }
    }

    fn forward(&self, lanes: usize, x: &mut Planes<T>, scratch: &mut Planes<T>) {
        self.plan.transform(self.isa, lanes, x, scratch);
    }

    fn inverse(&self, lanes: usize, x: &mut Planes<T>, scratch: &mut Planes<T>) {
        self.plan.invert(self.isa, lanes, x, scratch);
    }

    fn join_halves(&self, direction: Direction, lanes: usize, x: &mut Planes<T>) {
        self.isa.vectorize(
            #[inline(always)]
            || match lanes {
                LANES => join_halves::<T, LANES>(&self.plan, direction, lanes, x),
                _ => join_halves::<T, 1>(&self.plan, direction, lanes, x),
            },
        );
    }
}

/// Computes twice the frequencies of real numbers from those of the complex numbers whose parts they are, or the reverse.
#[inline(always)]
fn join_halves<T: Part, const N: usize>(
    plan: &Plan<T>,
    direction: Direction,
    lanes: usize,
    x: &mut Planes<T>,
) {
    join_first_and_last(plan.len * lanes, direction, lanes, x);
    for k in 1..plan.len / 2 + 1 {
        let [re, mut im] = plan.half_roots[k];
        if direction == Direction::Inverse {
            im = im.negated();
        }
        for lane in (0..lanes).step_by(N) {
            let (low, high) = (k * lanes + lane, (plan.len - k) * lanes + lane);
            let (a, b) = (
                Numbers::<T, N>::load(x, low),
                Numbers::load(x, high).conjugate(),
            );
            let (sum, difference) = (a.plus(b), a.minus(b).times([re, im]));
            sum.plus(difference).store(x, low);
            sum.minus(difference).conjugate().store(x, high);
        }
    }
}

/// Computes [`join_halves`] of the first and the last elements, which are `last` elements apart. The imaginary parts of the
/// frequencies are 0.
#[inline(always)]
fn join_first_and_last<T: Part>(
    last: usize,
    direction: Direction,
    lanes: usize,
    x: &mut Planes<T>,
) {
    for lane in 0..lanes {
        match direction {
            Direction::Forward => {
                let (re, im) = (x.re[lane].plus(x.re[lane]), x.im[lane].plus(x.im[lane]));
                x.re[lane] = re.plus(im);
                x.re[last + lane] = re.minus(im);
                (x.im[lane], x.im[last + lane]) = (T::ZERO, T::ZERO);
            }
            Direction::Inverse => {
                let (first, last) = (x.re[lane], x.re[last + lane]);
                x.re[lane] = first.plus(last);
                x.im[lane] = first.minus(last);
            }
        }
    }
}

/// Makes complex numbers of pairs of real ones.
fn spread_pairs<T: Part>(len: usize, lanes: usize, x: &mut Planes<T>) {
    for k in (0..len.div_ceil(2)).rev() {
        x.re.copy_within(k * lanes..(k + 1) * lanes, 2 * k * lanes);
        if 2 * k + 1 < len {
            let odd = (2 * k + 1) * lanes;
            x.re[odd..odd + lanes].copy_from_slice(&x.im[k * lanes..(k + 1) * lanes]);
        }
    }
    x.im[..len * lanes].fill(T::ZERO);
}

/// Makes pairs of the real parts of complex numbers.
fn collect_pairs<T: Part>(len: usize, lanes: usize, x: &mut Planes<T>) {
    for k in 0..len.div_ceil(2) {
        if 2 * k + 1 < len {
            let odd = (2 * k + 1) * lanes;
            x.im[k * lanes..(k + 1) * lanes].copy_from_slice(&x.re[odd..odd + lanes]);
        }
        x.re.copy_within(2 * k * lanes..(2 * k + 1) * lanes, k * lanes);
    }
}

/// Adds the frequencies that make the inverse transform real.
fn add_conjugates<T: Part>(len: usize, lanes: usize, x: &mut Planes<T>) {
    x.im[..lanes].fill(T::ZERO);
    for k in 1..len / 2 + 1 {
        for lane in 0..lanes {
            let (from, to) = (k * lanes + lane, (len - k) * lanes + lane);
            (x.re[to], x.im[to]) = (x.re[from], x.im[from].negated());
        }
    }
}
