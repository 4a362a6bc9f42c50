//! Transforms of several vectors at once (Stockham's algorithm), so that the loops are vectorized for any length.
//!
//! The bits of a vector's transform do not depend on the other vectors.

use super::root;
use crate::compute::array;
use sp_plugin::Complex128;

/// Vectors that are transformed together: element `k` of vector `lane` is element `k * lanes + lane` of both.
#[derive(Default)]
pub struct Planes {
    /// The real parts.
    pub re: Vec<f64>,
    /// The imaginary parts.
    pub im: Vec<f64>,
}

impl Planes {
    /// Changes the number of elements. New ones are 0.
    pub fn resize(&mut self, len: usize) {
        self.re.resize(len, 0.0);
        self.im.resize(len, 0.0);
    }

    /// Returns an element.
    pub fn get(&self, index: usize) -> Complex128 {
        Complex128::new(self.re[index], self.im[index])
    }

    /// Replaces an element.
    pub fn set(&mut self, index: usize, value: Complex128) {
        (self.re[index], self.im[index]) = (value.re, value.im);
    }
}

/// `N` complex numbers.
#[derive(Clone, Copy)]
struct Numbers<const N: usize> {
    re: [f64; N],
    im: [f64; N],
}

impl<const N: usize> Numbers<N> {
    const ZERO: Self = Self {
        re: [0.0; N],
        im: [0.0; N],
    };

    #[inline(always)]
    fn load(from: &Planes, start: usize) -> Self {
        let (re, im) = (&from.re[start..start + N], &from.im[start..start + N]);
        Self::from_fn(
            #[inline(always)]
            |i| (re[i], im[i]),
        )
    }

    /// Returns the numbers with the real and imaginary parts `f(0)`, `f(1)`, ...
    #[inline(always)]
    fn from_fn(f: impl Fn(usize) -> (f64, f64)) -> Self {
        Self {
            re: array::from_fn(
                #[inline(always)]
                |i| f(i).0,
            ),
            im: array::from_fn(
                #[inline(always)]
                |i| f(i).1,
            ),
        }
    }

    #[inline(always)]
    fn plus(self, y: Self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i| (self.re[i] + y.re[i], self.im[i] + y.im[i]),
        )
    }

    #[inline(always)]
    fn minus(self, y: Self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i| (self.re[i] - y.re[i], self.im[i] - y.im[i]),
        )
    }

    #[inline(always)]
    fn times(self, y: Complex128) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i| {
                let (re, im) = (self.re[i], self.im[i]);
                (re * y.re - im * y.im, re * y.im + im * y.re)
            },
        )
    }

    /// Returns the products with `-i`.
    #[inline(always)]
    fn turned(self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i| (self.im[i], -self.re[i]),
        )
    }
}

/// The parts of the results of a step.
struct Targets<'a, const N: usize, const F: usize> {
    re: [&'a mut [f64; N]; F],
    im: [&'a mut [f64; N]; F],
}

impl<const N: usize, const F: usize> Targets<'_, N, F> {
    #[inline(always)]
    fn write(self, numbers: [Numbers<N>; F]) {
        for ((re, im), numbers) in self.re.into_iter().zip(self.im).zip(numbers) {
            *re = numbers.re;
            *im = numbers.im;
        }
    }
}

/// Returns `N` elements at the start of each of two halves of `2 * run` elements. All bounds are checked before any store:
/// the compiler joins scalars to vectors within a block without branches only.
#[inline(always)]
fn split_two<const N: usize>(x: &mut [f64], run: usize) -> [&mut [f64; N]; 2] {
    let (first, second) = x.split_at_mut(run);
    let chunks = (first.first_chunk_mut(), second.first_chunk_mut());
    let (Some(first), Some(second)) = chunks else {
        panic!("fewer than {N} elements");
    };
    [first, second]
}

/// Returns `N` elements at the start of each of four quarters, as [`split_two`].
#[inline(always)]
fn split_four<const N: usize>(x: &mut [f64], run: usize) -> [&mut [f64; N]; 4] {
    let (low, high) = x.split_at_mut(2 * run);
    let ([a, b], [c, d]) = (split_two(low, run), split_two(high, run));
    [a, b, c, d]
}

/// The factors and roots of unity of a length whose prime factors are small.
pub struct Factors {
    factors: Vec<usize>,
    /// The roots `exp(-2 pi i k / len)`.
    roots: Vec<Complex128>,
}

impl Factors {
    /// Creates the factors of vectors whose length is the product of the factors.
    pub fn new(factors: Vec<usize>) -> Self {
        let len = factors.iter().product();
        let roots = (0..len).map(|k| root(k, len)).collect();
        Self { factors, roots }
    }

    /// Transforms vectors in place; `scratch` has their length, and other values after the call.
    #[inline(always)]
    pub fn transform(&self, lanes: usize, x: &mut Planes, scratch: &mut Planes) {
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
struct Pass<'a> {
    factor: usize,
    roots: &'a [Complex128],
    /// The number of elements that have the same roots.
    run: usize,
    /// The number of runs between those that are combined.
    part: usize,
    /// The power of the first root that is the root of this pass.
    stride: usize,
}

impl Pass<'_> {
    #[inline(always)]
    fn write(&self, x: &Planes, out: &mut Planes) {
        const N: usize = 8;
        let whole = self.run / N * N;
        for index in 0..self.part {
            for start in (0..whole).step_by(N) {
                self.combine::<N>(index, start, x, out);
            }
            for start in whole..self.run {
                self.combine::<1>(index, start, x, out);
            }
        }
    }

    /// Combines `N` elements from `start` on of the run of this index.
    #[inline(always)]
    fn combine<const N: usize>(&self, index: usize, start: usize, x: &Planes, out: &mut Planes) {
        let from = index * self.run + start;
        let to = index * self.factor * self.run + start;
        match self.factor {
            2 => self.combine_two::<N>(index, self.load(from, x), to, out),
            4 => self.combine_four::<N>(index, self.load(from, x), to, out),
            _ => (0..self.factor).for_each(
                #[inline(always)]
                |row| {
                    let sum = self.sum::<N>(index, row, from, x);
                    let start = to + row * self.run;
                    out.re[start..start + N].copy_from_slice(&sum.re);
                    out.im[start..start + N].copy_from_slice(&sum.im);
                },
            ),
        }
    }

    #[inline(always)]
    fn load<const N: usize, const F: usize>(&self, from: usize, x: &Planes) -> [Numbers<N>; F] {
        array::from_fn(
            #[inline(always)]
            |i| Numbers::load(x, from + i * self.part * self.run),
        )
    }

    #[inline(always)]
    fn combine_two<const N: usize>(
        &self,
        index: usize,
        [a, b]: [Numbers<N>; 2],
        to: usize,
        out: &mut Planes,
    ) {
        let root = self.roots[index * self.stride];
        let targets = Targets {
            re: split_two(&mut out.re[to..], self.run),
            im: split_two(&mut out.im[to..], self.run),
        };
        targets.write([a.plus(b), a.minus(b).times(root)]);
    }

    #[inline(always)]
    fn combine_four<const N: usize>(
        &self,
        index: usize,
        [a, b, c, d]: [Numbers<N>; 4],
        to: usize,
        out: &mut Planes,
    ) {
        let roots: [Complex128; 3] = array::from_fn(
            #[inline(always)]
            |i| self.roots[(i + 1) * index * self.stride],
        );
        let targets = Targets {
            re: split_four(&mut out.re[to..], self.run),
            im: split_four(&mut out.im[to..], self.run),
        };
        let (sum, difference) = (a.plus(c), a.minus(c));
        let (odd, turned) = (b.plus(d), b.minus(d).turned());
        targets.write([
            sum.plus(odd),
            difference.plus(turned).times(roots[0]),
            sum.minus(odd).times(roots[1]),
            difference.minus(turned).times(roots[2]),
        ]);
    }

    /// Returns a row of the results of any factor, by the definition.
    #[inline(always)]
    fn sum<const N: usize>(&self, index: usize, row: usize, from: usize, x: &Planes) -> Numbers<N> {
        let (len, mut sum) = (self.roots.len(), Numbers::ZERO);
        for i in 0..self.factor {
            let turns = i * row % self.factor * (len / self.factor) + index * row * self.stride;
            let x = Numbers::load(x, from + i * self.part * self.run);
            sum = sum.plus(x.times(self.roots[turns % len]));
        }
        sum
    }
}
