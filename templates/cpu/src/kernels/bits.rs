//! Functions of the bits of integers.

use super::elementwise::map_one;
use super::prelude::*;
use crate::compute::arith::Integer;
use crate::compute::bits::ones;
use crate::compute::parallel::for_each_chunk;

#[kernel(Invert, T = [u8, i8, i32, i64])]
fn invert<T: Element + Precision<Compute = i64>>(x: In<'_, T>, y: Out<'_, T>) -> Result<()> {
    map_one(
        cost::Cheap,
        x,
        y,
        #[inline(always)]
        |x| !x,
    )
}

#[kernel(PopulationCount, T = [u8, i8, u16, i16, u32, i32, u64, i64])]
fn population_count<T: Element + Integer>(x: In<'_, T>, y: Out<'_, u8>) -> Result<()> {
    let (mut output, x) = (y.unspecified(x.dims())?, x.data());
    for_each_chunk(&mut output, cost::Cheap.grain(), |start, out| {
        let x = &x[start..start + out.len()];
        out.iter_mut().zip(x).for_each(|(out, x)| *out = ones(*x));
    });
    Ok(())
}

table! { invert, population_count }
