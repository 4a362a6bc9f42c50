//! Quotients that are rounded to integers, and remainders. A divisor of 0 of an integer is an error.

use super::elementwise::{is_result_empty, map_two};
use super::prelude::*;
use crate::compute::division::{Divide, check_divisors};
use sp_plugin::kernel::{Kernel, kernels};

/// Functions of two tensors that broadcast: `name: Op => function`. They are called by a pointer, so that all have one
/// loop: most of them are no vector code.
macro_rules! divisions {
    ($($name:ident: $op:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [f32, f64, i64])]
            fn $name<T: Element + Precision<Compute = T> + Divide>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, T>) -> Result<()> {
                if T::IS_INTEGER && !is_result_empty(&x, &y)? {
                    check_divisors(y.data())?;
                }
                let f: fn(T, T) -> T = $f;
                map_two(Cost::Expensive, x, y, z, f)
            }
        )*

        /// Returns the kernels of this file.
        pub fn table() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

divisions! {
    div: Div => Divide::div;
    floor_div: FloorDiv => Divide::floor_div;
    floor_mod: FloorMod => Divide::floor_mod;
    truncate_div: TruncateDiv => Divide::truncate_div;
    truncate_mod: TruncateMod => Divide::truncate_mod;
    r#mod: Mod => Divide::truncate_mod;
}
