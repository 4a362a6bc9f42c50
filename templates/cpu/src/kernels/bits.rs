//! Functions of the bits of integers.

use super::elementwise::{map_one, map_two, map_two_unconverted};
use super::prelude::*;
use crate::compute::arith::Integer;
use crate::compute::bits::{ones, shift_left, shift_right};
use crate::compute::parallel::for_each_chunk;
use sp_plugin::kernel::{Kernel, kernels};

/// Functions of the bits of two tensors that broadcast: `name: Op => function`.
macro_rules! bitwise {
    ($($name:ident: $op:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [u8, i8, i32, i64])]
            fn $name<T: Element + Integer>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, T>) -> Result<()> {
                map_two_unconverted(x, y, z, $f)
            }
        )*

        fn functions() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

/// Shifts: `name: Op => function`. They are called by a pointer, so that all types have one loop.
macro_rules! shifts {
    ($($name:ident: $op:ident => $f:expr;)*) => {
        $(
            #[kernel($op, T = [u8, i8, i32, i64])]
            fn $name<T: Element + Precision<Compute = i64>>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, T>) -> Result<()> {
                let f: fn(i64, i64) -> i64 = $f;
                map_two(cost::Cheap, x, y, z, f)
            }
        )*

        /// Returns the kernels of this file.
        pub fn table() -> Vec<&'static Kernel> {
            let mut table = kernels![invert, population_count, $($name),*];
            table.extend(functions());
            table
        }
    };
}

bitwise! {
    bitwise_and: BitwiseAnd => Integer::and;
    bitwise_or: BitwiseOr => Integer::or;
    bitwise_xor: BitwiseXor => Integer::xor;
}

shifts! {
    left_shift: LeftShift => shift_left::<T>;
    right_shift: RightShift => shift_right::<T>;
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
fn population_count<T: Element + Integer>(x: In<'_, T>, y: Out<'_, u8>) -> Result<()> {
    let (mut output, x) = (y.unspecified(x.dims())?, x.data());
    for_each_chunk(&mut output, cost::Cheap.grain(), |start, out| {
        let x = &x[start..start + out.len()];
        out.iter_mut().zip(x).for_each(|(out, x)| *out = ones(*x));
    });
    Ok(())
}
