//! Transforms of vectors whose lengths have small prime factors (Stockham's algorithm).
//!
//! The bits of a vector's transform do not depend on the other vectors.

use super::lanes::{Numbers, Planes};
use super::{LANES, Part, root};
use crate::compute::machine::array;
use sp_plugin::allocation;

/// The factors and roots of unity of a length whose prime factors are small.
pub struct Factors<T> {
    factors: Vec<usize>,
    /// The parts of the roots `exp(-2 pi i k / len)`.
    roots: Vec<[T; 2]>,
}

impl<T: Part> Factors<T> {
    /// Creates the factors of vectors whose length is the product of the factors.
    pub fn new(factors: Vec<usize>) -> Self {
        let len = factors.iter().product();
        let roots = allocation::collect((0..len).map(|k| root(k, len)));
        Self { factors, roots }
    }

    /// Transforms vectors in place; `scratch` has their length, and other values after the call.
    #[inline(always)]
    pub fn transform(&self, lanes: usize, x: &mut Planes<T>, scratch: &mut Planes<T>) {
        let (mut run, mut rest) = (lanes, self.roots.len());
        for factor in &self.factors {
            let pass = Pass {
                factor: *factor,
                roots: &self.roots,
                run,
                part: rest / factor,
                stride: self.roots.len() / rest,
            };
            pass.write(x, scratch);
            std::mem::swap(x, scratch);
            run *= factor;
            rest /= factor;
        }
    }
}

/// A pass of a transform over the vectors: it combines `factor` runs, and writes the results one after the other.
struct Pass<'a, T> {
    factor: usize,
    roots: &'a [[T; 2]],
    /// The number of elements that have the same roots.
    run: usize,
    /// The number of runs between those that are combined.
    part: usize,
    /// The power of the first root that is the root of this pass.
    stride: usize,
}

/// The elements that are combined at once.
#[derive(Clone, Copy)]
struct Position {
    /// The index of the run.
    index: usize,
    /// The first element of the first operand.
    from: usize,
    /// The first element of the first result.
    to: usize,
}

impl<T: Part> Pass<'_, T> {
    #[inline(always)]
    fn write(&self, x: &Planes<T>, out: &mut Planes<T>) {
        match self.run < LANES {
            true => self.combine::<1>(x, out),
            false => self.combine::<LANES>(x, out),
        }
    }

    #[inline(always)]
    fn combine<const N: usize>(&self, x: &Planes<T>, out: &mut Planes<T>) {
        match self.factor {
            2 => self.for_each::<N>(
                #[inline(always)]
                |at| self.combine_two::<N>(at, x, out),
            ),
            3 => self.combine_odd::<N, 3, 1>(x, out),
            4 => self.for_each::<N>(
                #[inline(always)]
                |at| self.combine_four::<N>(at, x, out),
            ),
            5 => self.combine_odd::<N, 5, 2>(x, out),
            _ => self.for_each::<N>(
                #[inline(always)]
                |at| self.combine_any::<N>(at, x, out),
            ),
        }
    }

    /// Calls `combine` for `N` elements at a time. The last `N` of a run may overlap those before, which are combined twice.
    #[inline(always)]
    fn for_each<const N: usize>(&self, mut combine: impl FnMut(Position)) {
        let last = self.run - N;
        for index in 0..self.part {
            for start in (0..self.run).step_by(N) {
                let start = start.min(last);
                combine(Position {
                    index,
                    from: index * self.run + start,
                    to: index * self.factor * self.run + start,
                });
            }
        }
    }

    #[inline(always)]
    fn load<const N: usize, const F: usize>(
        &self,
        at: Position,
        x: &Planes<T>,
    ) -> [Numbers<T, N>; F] {
        array::from_fn(
            #[inline(always)]
            |i| Numbers::load(x, at.from + i * self.part * self.run),
        )
    }

    /// Writes the products of numbers with the powers of the root of the run. All bounds are checked before any store: the
    /// compiler joins scalars to vectors within a block without branches only.
    #[inline(always)]
    fn store<const N: usize, const F: usize>(
        &self,
        at: Position,
        numbers: [Numbers<T, N>; F],
        out: &mut Planes<T>,
    ) {
        let roots: [[T; 2]; F] = array::from_fn(
            #[inline(always)]
            |i| self.roots[i * at.index * self.stride],
        );
        let re = split::<T, N, F>(&mut out.re[at.to..], self.run);
        let im = split::<T, N, F>(&mut out.im[at.to..], self.run);
        for (i, (re, im)) in re.into_iter().zip(im).enumerate() {
            let product = match i {
                0 => numbers[i],
                _ => numbers[i].times(roots[i]),
            };
            if let (Some(re), Some(im)) = (re, im) {
                *re = product.re;
                *im = product.im;
            }
        }
    }

    #[inline(always)]
    fn combine_two<const N: usize>(&self, at: Position, x: &Planes<T>, out: &mut Planes<T>) {
        let [a, b] = self.load::<N, 2>(at, x);
        self.store(at, [a.plus(b), a.minus(b)], out);
    }

    #[inline(always)]
    fn combine_four<const N: usize>(&self, at: Position, x: &Planes<T>, out: &mut Planes<T>) {
        let [a, b, c, d] = self.load::<N, 4>(at, x);
        let (sum, difference) = (a.plus(c), a.minus(c));
        let (odd, rotated) = (b.plus(d), b.minus(d).times_minus_i());
        let results = [
            sum.plus(odd),
            difference.plus(rotated),
            sum.minus(odd),
            difference.minus(rotated),
        ];
        self.store(at, results, out);
    }

    /// Combines an odd factor `F`, of which `H` is the half: operands `i` and `F - i` have conjugate roots.
    #[inline(always)]
    fn combine_odd<const N: usize, const F: usize, const H: usize>(
        &self,
        x: &Planes<T>,
        out: &mut Planes<T>,
    ) {
        let units: [[T; 2]; F] = array::from_fn(|i| self.roots[i * (self.roots.len() / F)]);
        self.for_each::<N>(
            #[inline(always)]
            |at| {
                let x: [Numbers<T, N>; F] = self.load(at, x);
                let mut results = [x[0]; F];
                for i in 1..=H {
                    results[0] = results[0].plus(x[i].plus(x[F - i]));
                }
                for row in 1..=H {
                    let (mut sum, mut rotated) = (x[0], Numbers::ZERO);
                    for i in 1..=H {
                        let [re, im] = units[i * row % F];
                        sum = sum.plus(x[i].plus(x[F - i]).scaled(re));
                        rotated = rotated.plus(x[i].minus(x[F - i]).times_minus_i().scaled(im));
                    }
                    results[row] = sum.minus(rotated);
                    results[F - row] = sum.plus(rotated);
                }
                self.store(at, results, out);
            },
        );
    }

    /// Combines any factor, by the definition.
    #[inline(always)]
    fn combine_any<const N: usize>(&self, at: Position, x: &Planes<T>, out: &mut Planes<T>) {
        for row in 0..self.factor {
            let (len, mut sum) = (self.roots.len(), Numbers::<T, N>::ZERO);
            for i in 0..self.factor {
                let turns =
                    i * row % self.factor * (len / self.factor) + at.index * row * self.stride;
                let x = Numbers::load(x, at.from + i * self.part * self.run);
                sum = sum.plus(x.times(self.roots[turns % len]));
            }
            sum.store(out, at.to + row * self.run);
        }
    }
}

/// Returns `N` elements at the start of each of `F` runs, none of which is `None`: an array of references has no other value
/// to begin with.
///
/// # Panics
/// Panics if there are fewer elements.
#[inline(always)]
fn split<T, const N: usize, const F: usize>(x: &mut [T], run: usize) -> [Option<&mut [T; N]>; F] {
    let mut chunks = [const { None }; F];
    let mut rest = x;
    for chunk in &mut chunks[..F - 1] {
        let (first, others) = rest.split_at_mut(run);
        *chunk = first.first_chunk_mut();
        rest = others;
    }
    chunks[F - 1] = rest.first_chunk_mut();
    for chunk in &chunks {
        assert!(chunk.is_some(), "fewer than {N} elements");
    }
    chunks
}
