//! Random numbers of the gamma distribution, the same as TensorFlow's on the CPU.

use super::prelude::*;
use super::random::{NumberSelection, read_dims};
use super::seeded_random::read_seed;
use crate::compute::random::Philox;
use crate::compute::random::gamma::gamma;

#[kernel(StatelessRandomGammaV2, dtype: T = [F16, f32, f64], Tseed = [i32, i64])]
fn by_seed<T: Element + Cast<f64>>(
    shape: HostIn<'_, Index>,
    seed: HostIn<'_, Index>,
    alpha: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()>
where
    f64: Cast<T>,
{
    let (dims, generator) = (read_dims(&shape)?, read_seed(&seed)?);
    let mut output = output.unspecified(&dims)?;
    match output.is_empty() {
        true => Ok(()),
        false => write(generator, &dims, &alpha, &mut output),
    }
}

#[kernel(StatelessRandomGammaV3, dtype: T = [F16, f32, f64])]
fn by_key<T: Element + Cast<f64>>(
    shape: HostIn<'_, Index>,
    key: In<'_, u64>,
    counter: In<'_, u64>,
    alg: HostIn<'_, i32>,
    alpha: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()>
where
    f64: Cast<T>,
{
    let selection = NumberSelection::new(&shape, &key, &counter, &alg)?;
    let dims = allocation::copied(&selection.dims);
    selection.write(output, |generator, out| {
        write(generator, &dims, &alpha, out)
    })
}

/// Writes numbers, if the output's shape ends with that of the parameters. An empty output may have any shape.
fn write<T: Element + Cast<f64>>(
    generator: Philox,
    dims: &[usize],
    alpha: &In<'_, T>,
    out: &mut [T],
) -> Result<()>
where
    f64: Cast<T>,
{
    if !dims.ends_with(alpha.dims()) {
        return invalid!(
            "shape {} must end with that of alpha {:?}",
            listed(dims),
            alpha.dims()
        );
    }
    let alphas: Vec<f64> = allocation::collect(alpha.data().iter().map(|it| it.cast()));
    gamma(generator, &alphas, out, |x| x.cast());
    Ok(())
}

table! { by_seed, by_key }
