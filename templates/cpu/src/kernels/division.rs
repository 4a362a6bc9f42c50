//! Quotients that are rounded to integers, remainders, and powers of integers. A divisor of 0 of an integer is an error, and
//! so is a negative exponent.

use super::elementwise::{is_result_empty, map_two, map_two_in_place};
use super::prelude::*;
use crate::compute::division::{Divide, check_divisors};
use sp_plugin::kernel::{Kernel, kernels};

/// Functions of two tensors that broadcast: `name: Op in [types] => function`. Most of them are no vector code: they are called by
/// a pointer, so that all have one loop. The others are inlined into loops.
macro_rules! divisions {
    (
        called { $($name:ident: $op:ident in [$($ty:ident),*] => $f:path;)* }
        inlined { $($of_floats:ident: $float_op:ident in [$($float:ident),*] => $g:path;)* }
    ) => {
        $(
            #[kernel($op, T = [$($ty),*])]
            fn $name<T: Element + Precision<Compute: Divide>>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, T>) -> Result<()> {
                if T::Compute::IS_INTEGER && !is_result_empty(&x, &y)? {
                    check_divisors(y.data())?;
                }
                let f: fn(T::Compute, T::Compute) -> T::Compute = $f;
                map_two(cost::Expensive, x, y, z, f)
            }
        )*
        $(
            #[kernel($float_op, T = [$($float),*])]
            fn $of_floats<T: Element + Precision<Compute: Divide>>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, T>) -> Result<()> {
                map_two(cost::Cheap, x, y, z, $g)
            }
        )*

        /// Returns the kernels of this file.
        pub fn table() -> Vec<&'static Kernel> {
            kernels![pow, div_floats, $($name,)* $($of_floats),*]
        }
    };
}

/// Power of integers: a negative exponent is an error.
#[kernel(Pow, T = [i8, i32, i64])]
fn pow<T: Element + Precision<Compute = i64>>(
    x: In<'_, T>,
    y: In<'_, T>,
    z: Out<'_, T>,
) -> Result<()> {
    if !is_result_empty(&x, &y)? {
        arith::check_exponents(&T::widened(y.data()))?;
    }
    let f: fn(i64, i64) -> i64 = arith::pow_int;
    map_two(cost::Expensive, x, y, z, f)
}

#[kernel(Div, T = [F16, Bf16, f32, f64])]
fn div_floats<T: Element + Precision<Compute: Divide>>(
    x: In<'_, T>,
    y: In<'_, T>,
    z: Out<'_, T>,
) -> Result<()> {
    map_two_in_place(x, y, z, Divide::div)
}

divisions! {
    called {
        div: Div in [u8, i8, u16, i16, u32, u64, i64] => Divide::div;
        floor_div: FloorDiv in [u8, i8, i64] => Divide::floor_div;
        floor_mod: FloorMod in [F16, Bf16, f32, f64, u8, i8, i64] => Divide::floor_mod;
        truncate_div: TruncateDiv in [F16, Bf16, f32, f64, u8, i8, i32, i64] => Divide::truncate_div;
        truncate_mod: TruncateMod in [f32, f64, i64] => Divide::truncate_mod;
        r#mod: Mod in [f32, f64, i64] => Divide::truncate_mod;
    }
    inlined {
        floor_div_floats: FloorDiv in [F16, Bf16, f32, f64] => Divide::floor_div;
    }
}
