//! Random numbers of kernels with seeds as attributes, and random classes. With a seed the numbers are the same as
//! TensorFlow's on the CPU, call by call.

use super::distributions::with_distributions;
use super::prelude::*;
use super::random::{fill_normal, fill_truncated_normal, read_dims};
use super::seeded_random::read_seed;
use crate::compute::multinomial;
use crate::compute::random::{self, Bounded, Normal, Philox, RESERVED, Sample};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Attributes)]
pub struct Seeds {
    /// The seed of the graph.
    pub seed: i64,
    /// The seed of the op.
    pub seed2: i64,
}

/// The generator of a kernel's instance. Calls that run together have different numbers.
pub struct Generator {
    key: u64,
    /// The upper half of the counter.
    high: u64,
    /// The lower half of the counter of the next call.
    next: AtomicU64,
}

impl Prepare for Generator {
    type Attributes = Seeds;

    fn prepare(it: Seeds) -> Result<Self> {
        let (key, high) = match (it.seed, it.seed2) {
            (0, 0) => (random_seed(), random_seed()),
            (seed, seed2) => (seed as u64, seed2 as u64),
        };
        Ok(Self {
            key,
            high,
            next: AtomicU64::new(0),
        })
    }
}

/// Returns a number that differs in each call: the standard library seeds its hashes with random numbers.
fn random_seed() -> u64 {
    RandomState::new().hash_one(())
}

impl Generator {
    /// Returns the generator of a call that draws `count` numbers.
    pub fn reserve(&self, count: usize) -> Philox {
        let counters = (count as u64).wrapping_mul(RESERVED);
        let start = self.next.fetch_add(counters, Ordering::Relaxed);
        Philox::new(self.key, [start, self.high])
    }
}

macro_rules! distributions {
    (floats { $($name:ident($first:ident, $second:ident, $third:ident, $op:ident), [$($bound:tt)*] in [$($ty:ident),*] => $fill:expr;)* } $($other:tt)*) => {$(
        #[kernel($op, dtype: T = [$($ty),*])]
        fn $name<T: Element + $($bound)*>(
            #[state] generator: &Generator,
            shape: HostIn<'_, Index>,
            output: Out<'_, T>,
        ) -> Result<()> {
            let mut output = output.unspecified(&read_dims(&shape)?)?;
            $fill(generator.reserve(output.len()), &mut output);
            Ok(())
        }
    )*};
}

with_distributions!(distributions);

#[kernel(RandomUniformInt, Tout: T = [i32, i64])]
fn uniform_int<T: Element + Bounded + std::fmt::Display>(
    #[state] generator: &Generator,
    shape: HostIn<'_, Index>,
    minval: HostIn<'_, T>,
    maxval: HostIn<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let dims = read_dims(&shape)?;
    let low = read_scalar("minval", &minval)?;
    let high = read_scalar("maxval", &maxval)?;
    let mut output = output.unspecified(&dims)?;
    match output.is_empty() {
        true => Ok(()),
        false if low >= high => invalid!("Need minval < maxval, got {low} >= {high}"),
        false => {
            let generator = generator.reserve(output.len());
            random::uniform_int(generator, low, high, &mut output);
            Ok(())
        }
    }
}

#[kernel(Multinomial, T = [F16, Bf16, f32, f64], output_dtype: U = [i32, i64])]
fn draw_classes<T: Element + Precision<Compute: Into<f64>>, U: Element + From<i32>>(
    #[state] generator: &Generator,
    logits: In<'_, T>,
    num_samples: HostIn<'_, i32>,
    output: Out<'_, U>,
) -> Result<()> {
    let draw = Draw::new(logits.dims(), &num_samples)?;
    // Each number has two words. TensorFlow rounds the numbers of a row up to a multiple of 4.
    let numbers = draw.rows * draw.samples.next_multiple_of(4) * 2;
    let count = if draw.samples == 0 { 0 } else { numbers };
    draw.write(generator.reserve(count), logits, output)
}

#[kernel(StatelessMultinomial, T = [F16, Bf16, f32, f64], output_dtype: U = [i32, i64])]
fn draw_classes_by_seed<T: Element + Precision<Compute: Into<f64>>, U: Element + From<i32>>(
    logits: In<'_, T>,
    num_samples: HostIn<'_, i32>,
    seed: HostIn<'_, Index>,
    output: Out<'_, U>,
) -> Result<()> {
    let generator = read_seed(&seed)?;
    Draw::new(logits.dims(), &num_samples)?.write(generator, logits, output)
}

/// The dims of random classes.
struct Draw {
    rows: usize,
    classes: usize,
    samples: usize,
}

impl Draw {
    fn new(logits: &[usize], samples: &HostIn<'_, i32>) -> Result<Self> {
        let invalid = |message: String| Err(Error::invalid_argument(message));
        let &[rows, classes] = logits else {
            return invalid(format!(
                "logits should be a matrix, got shape {}",
                Dims(logits)
            ));
        };
        let samples = read_scalar("num_samples", samples)?;
        if classes == 0 || i32::try_from(classes).is_err() {
            return invalid(format!(
                "logits must have from 1 to 2147483647 classes, not {classes}"
            ));
        }
        match usize::try_from(samples) {
            Ok(samples) => Ok(Self {
                rows,
                classes,
                samples,
            }),
            Err(_) => invalid(format!("num_samples should be non-negative, got {samples}")),
        }
    }

    fn write<T: Element + Precision<Compute: Into<f64>>, U: Element + From<i32>>(
        &self,
        generator: Philox,
        logits: In<'_, T>,
        output: Out<'_, U>,
    ) -> Result<()> {
        let mut output = output.unspecified(&[self.rows, self.samples])?;
        let logits = T::widened(logits.data());
        multinomial::multinomial(generator, self.classes, &logits, self.samples, &mut output);
        Ok(())
    }
}

table! { uniform, normal, truncated_normal, uniform_int, draw_classes, draw_classes_by_seed }
