//! Random numbers of generators whose state is a variable, such as `tf.random.Generator`: the same as TensorFlow's on the CPU.

use super::distributions::with_distributions;
use super::prelude::*;
use super::random::{fill_normal, fill_truncated_normal, read_dims, read_limits};
use crate::compute::random::{self, Bounded, Normal, Philox, RESERVED, Sample};
use sp_plugin::kernel::Variable;

/// The number of elements of Philox's state, which the variable begins with.
pub const STATE: usize = 3;

/// Returns the generator of a state, and reserves the counters of `count` numbers.
///
/// # Errors
/// Returns an error if there is no such algorithm, or the variable is not a state of it.
pub fn reserve(resource: Variable<'_, i64>, algorithm: i64, count: u64) -> Result<Philox> {
    check_algorithm(algorithm)?;
    let mut lock = resource.lock()?;
    let mut value = lock.value()?;
    let dims = InlineList::from(value.dims());
    advance(&dims, &mut value, count)
}

/// Returns the generator of a state, and replaces the state by that after `count` numbers.
///
/// # Errors
/// Returns an error if the value is not a vector, or is too short.
pub fn advance(dims: &[usize], value: &mut [i64], count: u64) -> Result<Philox> {
    let generator = Philox::from_state(check_state(dims, value)?);
    let next = generator.skip(count.wrapping_mul(RESERVED));
    value[..STATE].copy_from_slice(&next.state());
    Ok(generator)
}

/// Returns the state with which the value of a variable begins.
///
/// # Errors
/// Returns an error if the value is not a vector, or is too short.
fn check_state(dims: &[usize], value: &[i64]) -> Result<[i64; STATE]> {
    match *value {
        [low, high, key, ..] if dims.len() == 1 => Ok([low, high, key]),
        _ => invalid!(
            "RNG state must have one and only one dimension, and its size must be at least {STATE}, not shape {dims:?}"
        ),
    }
}

/// Checks that an algorithm is Philox, or left to the kernel.
///
/// # Errors
/// Returns an error if it is another one.
pub fn check_algorithm(algorithm: i64) -> Result<()> {
    match algorithm {
        1 | 3 => Ok(()),
        2 => Err(Error::unimplemented(
            "the ThreeFry algorithm is not supported: 1 is Philox",
        )),
        other => invalid!("Unsupported algorithm id: {other}: 1 is Philox, 3 the kernel's choice"),
    }
}

macro_rules! distributions {
    ($($group:ident { $($name:ident($first:ident, $second:ident, $op:ident $(, $other:ident)?), [$($bound:tt)*] in [$($ty:ident),*] => $fill:expr;)* })*) => {$($(
        #[kernel($op, dtype: T = [$($ty),*], shape_dtype = [i32, i64])]
        fn $name<T: Element + $($bound)*>(
            resource: Variable<'_, i64>,
            algorithm: HostIn<'_, i64>,
            shape: HostIn<'_, Index>,
            output: Out<'_, T>,
        ) -> Result<()> {
            let algorithm = read_scalar("algorithm", &algorithm)?;
            let mut output = output.unspecified(&read_dims(&shape)?)?;
            $fill(reserve(resource, algorithm, output.len() as u64)?, &mut output);
            Ok(())
        }
    )*)*};
}

with_distributions!(distributions);

#[kernel(StatefulUniformInt, dtype: T = [i32, i64], shape_dtype = [i32, i64])]
fn uniform_int<T: Element + Bounded + std::fmt::Display>(
    resource: Variable<'_, i64>,
    algorithm: HostIn<'_, i64>,
    shape: HostIn<'_, Index>,
    minval: HostIn<'_, T>,
    maxval: HostIn<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let algorithm = read_scalar("algorithm", &algorithm)?;
    let [low, high] = read_limits(&minval, &maxval)?;
    let mut output = output.unspecified(&read_dims(&shape)?)?;
    let generator = reserve(resource, algorithm, output.len() as u64)?;
    random::uniform_int(generator, low, high, &mut output);
    Ok(())
}

#[kernel(RngSkip)]
fn skip(
    resource: Variable<'_, i64>,
    algorithm: HostIn<'_, i64>,
    delta: HostIn<'_, i64>,
) -> Result<()> {
    let algorithm = read_scalar("algorithm", &algorithm)?;
    let count = read_scalar("delta", &delta)?.cast_unsigned();
    reserve(resource, algorithm, count).map(|_| ())
}

/// The state before the numbers are reserved.
#[kernel(RngReadAndSkip)]
fn read_and_skip(
    resource: Variable<'_, i64>,
    alg: HostIn<'_, i32>,
    delta: HostIn<'_, u64>,
    value: Out<'_, i64>,
) -> Result<()> {
    let (algorithm, count) = (read_scalar("alg", &alg)?, read_scalar("delta", &delta)?);
    let state = reserve(resource, algorithm.into(), count)?.state();
    value.uninit(&[STATE])?.copy_from_slice(&state)?;
    Ok(())
}

table! { uniform, uniform_full_int, normal, truncated_normal, uniform_int, skip, read_and_skip }
