//! Stateless random numbers of ops whose input is a seed, the same as TensorFlow's on the CPU. `tf.compat.v1` has them;
//! the functions of `tf.random` call those of a key and a counter.

use super::distributions::with_distributions;
use super::prelude::*;
use super::random::{fill_normal, fill_truncated_normal, read_dims, read_limits};
use crate::compute::random::{self, Bounded, Normal, Philox, Sample};

/// Returns the generator of a seed.
///
/// # Errors
/// Returns an error if the seed does not consist of two numbers.
pub fn read_seed(seed: &HostIn<'_, Index>) -> Result<Philox> {
    if seed.dims() != [2] {
        return invalid!("seed must have shape [2], not {:?}", seed.dims());
    }
    let (key, counter) = Philox::from_seed([0, 1].map(|index| seed.get(index).cast_unsigned()));
    Ok(Philox::new(key, counter))
}

macro_rules! distributions {
    ($($group:ident { $($name:ident($first:ident, $op:ident $(, $other:ident)*), [$($bound:tt)*] in [$($ty:ident),*] => $fill:expr;)* })*) => {$($(
        #[kernel($op, dtype: T = [$($ty),*], Tseed = [i32, i64])]
        fn $name<T: Element + $($bound)*>(
            shape: HostIn<'_, Index>,
            seed: HostIn<'_, Index>,
            output: Out<'_, T>,
        ) -> Result<()> {
            let (dims, generator) = (read_dims(&shape)?, read_seed(&seed)?);
            $fill(generator, &mut output.unspecified(&dims)?);
            Ok(())
        }
    )*)*};
}

with_distributions!(distributions);

/// An empty output needs no valid range.
#[kernel(StatelessRandomUniformInt, dtype: T = [i32, i64])]
fn uniform_int<T: Element + Bounded + std::fmt::Display>(
    shape: HostIn<'_, Index>,
    seed: HostIn<'_, Index>,
    minval: HostIn<'_, T>,
    maxval: HostIn<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let (dims, generator) = (read_dims(&shape)?, read_seed(&seed)?);
    let mut output = output.unspecified(&dims)?;
    if !output.is_empty() {
        let [low, high] = read_limits(&minval, &maxval)?;
        random::uniform_int(generator, low, high, &mut output);
    }
    Ok(())
}

/// The key, the counter and the algorithm for a seed, in the memory in which the kernels of random numbers read them.
#[kernel(StatelessRandomGetKeyCounterAlg)]
fn get_key_counter_alg(
    seed: HostIn<'_, Index>,
    key: Out<'_, u64>,
    counter: Out<'_, u64>,
    alg: HostOut<'_, i32>,
) -> Result<()> {
    let [low, high, key_value] = read_seed(&seed)?.state().map(i64::cast_unsigned);
    key.uninit(&[1])?.fill(key_value);
    counter.uninit(&[2])?.copy_from_slice(&[low, high])?;
    alg.uninit(&[])?.fill(1);
    Ok(())
}

table! { uniform, uniform_full_int, normal, truncated_normal, uniform_int, get_key_counter_alg }
