//! Random numbers of the binomial distribution, the same as TensorFlow's on the CPU.

use super::generator::{advance, check_algorithm, reserve}; // since 2.6
use super::prelude::*;
use super::random::read_dims;
use super::seeded_random::read_seed;
use crate::compute::random::Philox;
use crate::compute::random::binomial::{self, Binomial};
use crate::compute::shape::Broadcast;
use sp_plugin::kernel::Variable; // since 2.6

// since 2.6
mod ops {
    use sp_plugin::Result;
    use sp_plugin::op::{Shape, op};

    /// Draws binomial numbers of a generator. Returns the numbers, and the next value of the variable that has its state.
    #[op(SpRandomBinomial(value: i64, algorithm: i64, shape: S, counts: T, probs: T) -> (output: U, next: i64), S: {i32, i64}, T: {F16, f32, f64, i32, i64}, U: {F16, f32, f64, i32, i64})]
    pub fn random_binomial(
        value: Shape,
        algorithm: Shape,
        shape: Shape,
        counts: Shape,
        probs: Shape,
    ) -> Result<(Shape, Shape)> {
        let _ = (algorithm, shape, counts, probs);
        Ok((Shape::unknown(), value))
    }
}

/// The distributions of a call, and the shape of its result.
struct Draw {
    distributions: Vec<Binomial>,
    dims: Vec<usize>,
}

impl Draw {
    fn new<T: Element + Cast<f64>>(
        shape: &HostIn<'_, Index>,
        counts: &In<'_, T>,
        probs: &In<'_, T>,
    ) -> Result<Self>
    where
        f64: Cast<T>,
    {
        let invalid = |message: String| Err(Error::invalid_argument(message));
        let (dims, operands) = (read_dims(shape)?, [counts.dims(), probs.dims()]);
        let Ok(plan) = Broadcast::new(operands) else {
            return invalid(format!(
                "counts and probs must have compatible batch dimensions: {:?} vs. {:?}",
                operands[0], operands[1]
            ));
        };
        if !dims.ends_with(plan.dims()) {
            return invalid(format!(
                "Shape passed in must end with broadcasted shape: {} does not end with {:?}",
                listed(&dims),
                plan.dims()
            ));
        }
        let round = |x: f64| -> f64 { Cast::<T>::cast(x).cast() };
        let distributions = (0..plan.len()).map(|index| {
            let [count, probability] = [counts, probs]
                .map(|it| it.data()[operand_index(plan.dims(), it.dims(), index)].cast());
            Binomial::new(count, probability, round)
        });
        Ok(Self {
            distributions: allocation::collect(distributions),
            dims,
        })
    }

    /// Returns the number of numbers of each distribution.
    fn rows(&self) -> usize {
        len(&self.dims) / self.distributions.len().max(1)
    }

    /// Returns the number of random numbers that the call reserves.
    fn reserved(&self) -> u64 {
        binomial::reserved(self.rows(), self.distributions.len())
    }

    fn write<U: Element>(&self, generator: Philox, output: Out<'_, U>) -> Result<()>
    where
        f64: Cast<U>,
    {
        let mut output = output.unspecified(&self.dims)?;
        if !output.is_empty() {
            binomial::binomial(generator, &self.distributions, &mut output, |x| x.cast());
        }
        Ok(())
    }
}

/// Returns the index of an operand's element for an element of the result to which it broadcasts.
fn operand_index(result: &[usize], operand: &[usize], index: usize) -> usize {
    let (mut rest, mut step, mut found) = (index, 1, 0);
    let missing = result.len() - operand.len();
    for (axis, dim) in result.iter().enumerate().rev() {
        let position = rest % dim;
        rest /= dim;
        if axis >= missing {
            let size = operand[axis - missing];
            found += if size == 1 { 0 } else { position * step };
            step *= size;
        }
    }
    found
}

#[kernel(StatelessRandomBinomial, T = [F16, f32, f64, i32, i64], dtype: U = [F16, f32, f64, i32, i64], S = [i32, i64], Tseed = [i32, i64])]
fn by_seed<T: Element + Cast<f64>, U: Element>(
    shape: HostIn<'_, Index>,
    seed: HostIn<'_, Index>,
    counts: In<'_, T>,
    probs: In<'_, T>,
    output: Out<'_, U>,
) -> Result<()>
where
    f64: Cast<T> + Cast<U>,
{
    let generator = read_seed(&seed)?;
    Draw::new(&shape, &counts, &probs)?.write(generator, output)
}

// since 2.6
#[kernel(StatefulRandomBinomial, T = [F16, f32, f64, i32, i64], dtype: U = [F16, f32, f64, i32, i64], S = [i32, i64])]
fn by_state<T: Element + Cast<f64>, U: Element>(
    resource: Variable<'_, i64>,
    algorithm: HostIn<'_, i64>,
    shape: HostIn<'_, Index>,
    counts: In<'_, T>,
    probs: In<'_, T>,
    output: Out<'_, U>,
) -> Result<()>
where
    f64: Cast<T> + Cast<U>,
{
    let algorithm = read_scalar("algorithm", &algorithm)?;
    let draw = Draw::new(&shape, &counts, &probs)?;
    draw.write(reserve(resource, algorithm, draw.reserved())?, output)
}

// since 2.6
#[kernel(ops::SpRandomBinomial, T = [F16, f32, f64, i32, i64], U = [F16, f32, f64, i32, i64], S = [i32, i64])]
fn by_value_of_state<T: Element + Cast<f64>, U: Element>(
    value: In<'_, i64>,
    algorithm: HostIn<'_, i64>,
    shape: HostIn<'_, Index>,
    counts: In<'_, T>,
    probs: In<'_, T>,
    output: Out<'_, U>,
    next: Out<'_, i64>,
) -> Result<()>
where
    f64: Cast<T> + Cast<U>,
{
    check_algorithm(read_scalar("algorithm", &algorithm)?)?;
    let draw = Draw::new(&shape, &counts, &probs)?;
    let mut state = allocation::copied(value.data());
    let generator = advance(value.dims(), &mut state, draw.reserved())?;
    draw.write(generator, output)?;
    next.uninit(value.dims())?.copy_from_slice(&state)?;
    Ok(())
}

table! {
    by_seed,
    by_state, // since 2.6
    by_value_of_state, // since 2.6
}
