//! Stateless random numbers, the same as TensorFlow's on the CPU.

use super::distributions::with_distributions;
use super::prelude::*;
use crate::compute::random::{self, Bounded, Normal, Philox, Sample};

fn unsupported(alg: i32) -> Error {
    Error::invalid_argument(format!(
        "Unsupported algorithm id: {alg}: 1 is Philox, 3 the kernel's choice"
    ))
}

/// The inputs that select the numbers, which all of these ops have.
pub struct NumberSelection {
    generator: Result<Philox>,
    pub dims: Vec<usize>,
}

impl NumberSelection {
    /// Reads the inputs.
    ///
    /// # Errors
    /// Returns an error if an input has another shape than TensorFlow requires.
    pub fn new(
        shape: &HostIn<'_, Index>,
        key: &In<'_, u64>,
        counter: &In<'_, u64>,
        alg: &HostIn<'_, i32>,
    ) -> Result<Self> {
        let (key, counter) = (read_key(key)?, read_counter(counter)?);
        let alg = read_scalar("alg", alg)?;
        let dims = read_dims(shape)?;
        // 1 is Philox, 3 leaves the choice to the kernel, and 2 is ThreeFry, which core's kernels on the CPU lack too.
        let generator = match alg {
            1 | 3 => Ok(Philox::new(key, counter)),
            // An empty output does not need these.
            0 | 2 => Err(unsupported(alg)),
            _ => return Err(unsupported(alg)),
        };
        Ok(Self { generator, dims })
    }

    /// Writes the output. An empty one needs no generator, and no valid range.
    pub fn write<T: Element>(
        self,
        output: Out<'_, T>,
        write: impl FnOnce(Philox, &mut [T]) -> Result<()>,
    ) -> Result<()> {
        let mut output = output.unspecified(&self.dims)?;
        match output.is_empty() {
            true => Ok(()),
            false => write(self.generator?, &mut output),
        }
    }
}

fn read_key(key: &In<'_, u64>) -> Result<u64> {
    match (key.data(), key.dims()) {
        (&[value], [_]) => Ok(value),
        (_, dims) => invalid!("key must have shape [1], not {dims:?}"),
    }
}

/// Returns the two words of the counter that Philox has.
fn read_counter(counter: &In<'_, u64>) -> Result<[u64; 2]> {
    match (counter.data(), counter.dims()) {
        (&[low, high, ..], [_]) => Ok([low, high]),
        (_, dims) => {
            invalid!("counter must be a vector of two elements or more, not of shape {dims:?}")
        }
    }
}

/// Returns the dims that an input states.
///
/// # Errors
/// Returns an error if it is not a vector, if an element is negative, or if the tensor has too many elements.
pub fn read_dims(shape: &HostIn<'_, Index>) -> Result<Vec<usize>> {
    if shape.dims().len() != 1 {
        return invalid!("shape must be a vector, not of shape {:?}", shape.dims());
    }
    let negative = |_| {
        Error::invalid_argument(format!(
            "shape {} has a negative size: each must be >= 0",
            listed(shape.iter())
        ))
    };
    let dims = shape
        .iter()
        .map(|dim| usize::try_from(dim).map_err(negative));
    let dims = allocation::try_collect(dims)?;
    let mut sizes = dims.iter();
    let len = sizes.try_fold(1_i64, |len, dim| len.checked_mul((*dim).try_into().ok()?));
    let too_large = || {
        Error::invalid_argument(format!(
            "shape {} has more than 2^63 - 1 elements",
            listed(&dims)
        ))
    };
    len.map(|_| ()).ok_or_else(too_large)?;
    Ok(dims)
}

macro_rules! distributions {
    ($($group:ident { $($name:ident($op:ident $(, $other:ident)*), [$($bound:tt)*] in [$($ty:ident),*] => $fill:expr;)* })*) => {$($(
        #[kernel($op, dtype: T = [$($ty),*])]
        fn $name<T: Element + $($bound)*>(
            shape: HostIn<'_, Index>,
            key: In<'_, u64>,
            counter: In<'_, u64>,
            alg: HostIn<'_, i32>,
            output: Out<'_, T>,
        ) -> Result<()> {
            NumberSelection::new(&shape, &key, &counter, &alg)?.write(output, |generator, out| {
                $fill(generator, out);
                Ok(())
            })
        }
    )*)*};
}

with_distributions!(distributions);

/// Writes normal numbers: those of 16-bit floats are rounded, as TensorFlow's.
pub fn fill_normal<T: Precision<Compute: Normal>>(generator: Philox, out: &mut [T]) {
    T::overwrite(out, |out| random::normal(generator, out));
}

/// Writes truncated normal numbers, as [`fill_normal`].
pub fn fill_truncated_normal<T: Precision<Compute: Normal>>(generator: Philox, out: &mut [T]) {
    T::overwrite(out, |out| random::truncated_normal(generator, out));
}

#[kernel(StatelessRandomUniformIntV2, dtype: T = [i32, i64, u32, u64])]
fn uniform_int<T: Element + Bounded + std::fmt::Display>(
    shape: HostIn<'_, Index>,
    key: In<'_, u64>,
    counter: In<'_, u64>,
    alg: HostIn<'_, i32>,
    minval: HostIn<'_, T>,
    maxval: HostIn<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    NumberSelection::new(&shape, &key, &counter, &alg)?.write(output, |generator, out| {
        let [low, high] = read_limits(&minval, &maxval)?;
        random::uniform_int(generator, low, high, out);
        Ok(())
    })
}

/// Returns the limits of random integers.
///
/// # Errors
/// Returns an error if an input is no scalar, or if there is no integer between them.
pub fn read_limits<T: Element + PartialOrd + std::fmt::Display>(
    minval: &HostIn<'_, T>,
    maxval: &HostIn<'_, T>,
) -> Result<[T; 2]> {
    let (low, high) = (
        read_scalar("minval", minval)?,
        read_scalar("maxval", maxval)?,
    );
    match low < high {
        true => Ok([low, high]),
        false => invalid!("Need minval < maxval, got {low} >= {high}"),
    }
}

/// The key and the counter for a seed, in the memory in which the kernels above read them. Keras computes the seed on the
/// device.
#[kernel(StatelessRandomGetKeyCounter, Tseed: T = [i32, i64])]
fn get_key_counter<T: Element + Into<i64>>(
    seed: In<'_, T>,
    key: Out<'_, u64>,
    counter: Out<'_, u64>,
) -> Result<()> {
    let (&[low, high], [_]) = (seed.data(), seed.dims()) else {
        return invalid!("seed must have shape [2], not {:?}", seed.dims());
    };
    let (key_value, start) = Philox::from_seed([low, high].map(|it| it.into().cast_unsigned()));
    key.uninit(&[1])?.fill(key_value);
    counter.uninit(&[2])?.copy_from_slice(&start)?;
    Ok(())
}

/// The algorithm that the kernels of this file choose: Philox.
#[kernel(StatelessRandomGetAlg)]
fn get_alg(alg: HostOut<'_, i32>) -> Result<()> {
    alg.uninit(&[])?.fill(1);
    Ok(())
}

table! {
    get_key_counter, get_alg, uniform, uniform_full_int, normal, truncated_normal, uniform_int,
}
