//! Parts of complex numbers. The functions are called by a pointer, so that all have one loop.

use super::elementwise::{map_one_with_cost, map_two};
use super::prelude::*;
use crate::compute::complex as f;
use sp_plugin::Complex64;
use sp_plugin::kernel::{Kernel, kernels};

/// Real functions of one number: `name: Op(input) -> output => function`.
macro_rules! real {
    ($($name:ident: $op:ident($x:ident) -> $y:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [Complex64], Tout = [f32])]
            fn $name($x: In<'_, Complex64>, $y: Out<'_, f32>) -> Result<()> {
                let f: fn(Complex64) -> f32 = $f;
                map_one_with_cost(cost::Expensive, $x, $y, f)
            }
        )*

        fn properties() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

real! {
    angle: Angle(input) -> output => f::angle;
    complex_abs: ComplexAbs(x) -> y => f::abs;
    imag: Imag(input) -> output => f::imag;
    real: Real(input) -> output => f::real;
}

#[kernel(Complex, T = [f32], Tout = [Complex64])]
fn complex(real: In<'_, f32>, imag: In<'_, f32>, out: Out<'_, Complex64>) -> Result<()> {
    let f: fn(f32, f32) -> Complex64 = Complex64::new;
    map_two(cost::Cheap, real, imag, out, f)
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = kernels![complex];
    table.extend(properties());
    table
}
