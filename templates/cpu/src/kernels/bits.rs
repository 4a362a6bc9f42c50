//! Functions of the bits of integers.

use super::elementwise::{map_one, map_two};
use super::prelude::*;
use crate::compute::bits::{ones, shift_left, shift_right};
use crate::compute::parallel::for_each_chunk;
use sp_plugin::kernel::{Kernel, kernels};

/// Functions of two tensors that broadcast: `name: Op => function`. The shifts are called by a pointer, so that they have one
/// loop for all types.
macro_rules! bits {
    ($($name:ident: $op:ident => $f:expr;)*) => {
        $(
            #[kernel($op, T = [u8, i8, i32, i64])]
            fn $name<T: Element + Precision<Compute = i64>>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, T>) -> Result<()> {
                map_two(cost::Cheap, x, y, z, $f)
            }
        )*

        /// Returns the kernels of this file.
        pub fn table() -> Vec<&'static Kernel> {
            kernels![invert, population_count, $($name),*]
        }
    };
}

bits! {
    bitwise_and: BitwiseAnd => #[inline(always)] |x, y| x & y;
    bitwise_or: BitwiseOr => #[inline(always)] |x, y| x | y;
    bitwise_xor: BitwiseXor => #[inline(always)] |x, y| x ^ y;
    left_shift: LeftShift => shift_left::<T> as fn(i64, i64) -> i64;
    right_shift: RightShift => shift_right::<T> as fn(i64, i64) -> i64;
}

#[kernel(Invert, T = [u8, i8, i32, i64])]
fn invert<T: Element + Precision<Compute = i64>>(x: In<'_, T>, y: Out<'_, T>) -> Result<()> {
    map_one(
        x,
        y,
        #[inline(always)]
        |x| !x,
    )
}

#[kernel(PopulationCount, T = [u8, i8, u16, i16, u32, i32, u64, i64])]
fn population_count<T: Element + arith::Integer>(x: In<'_, T>, y: Out<'_, u8>) -> Result<()> {
    let (mut output, x) = (y.unspecified(x.dims())?, x.data());
    for_each_chunk(&mut output, cost::Cheap.grain(), |start, out| {
        let x = &x[start..start + out.len()];
        out.iter_mut().zip(x).for_each(|(out, x)| *out = ones(*x));
    });
    Ok(())
}
