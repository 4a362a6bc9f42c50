//! Bessel functions and integrals without a closed form, computed in `f64`.

use super::elementwise::map_one_with_cost;
use super::prelude::*;
use crate::compute::cast::Cast;
use crate::compute::{bessel, integrals};
use sp_plugin::kernel::{Kernel, kernels};

/// Functions of one float: `name: Op in [types] => function`. They are called by a pointer, so that all have one loop.
macro_rules! functions {
    ($($name:ident: $op:ident in [$($ty:ident),*] => $f:path;)*) => {
        $(
            #[kernel($op, T = [$($ty),*])]
            fn $name<T: Element + Precision<Compute: Cast<f64>>>(x: In<'_, T>, y: Out<'_, T>) -> Result<()>
            where
                f64: Cast<T::Compute>,
            {
                let f: fn(f64) -> f64 = $f;
                map_one_with_cost(cost::Expensive, x, y, move |x| f(x.cast()).cast())
            }
        )*

        /// Returns the kernels of this file.
        pub fn table() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

functions! {
    i0: BesselI0 in [F16, f32, f64] => bessel::i0;
    i0e: BesselI0e in [F16, f32, f64] => bessel::i0e;
    i1: BesselI1 in [F16, f32, f64] => bessel::i1;
    i1e: BesselI1e in [F16, f32, f64] => bessel::i1e;
    j0: BesselJ0 in [F16, f32, f64] => bessel::j0;
    j1: BesselJ1 in [F16, f32, f64] => bessel::j1;
    k0: BesselK0 in [F16, f32, f64] => bessel::k0;
    k0e: BesselK0e in [F16, f32, f64] => bessel::k0e;
    k1: BesselK1 in [F16, f32, f64] => bessel::k1;
    k1e: BesselK1e in [F16, f32, f64] => bessel::k1e;
    y0: BesselY0 in [F16, f32, f64] => bessel::y0;
    y1: BesselY1 in [F16, f32, f64] => bessel::y1;
    dawson: Dawsn in [f32, f64] => integrals::dawson;
    exponential: Expint in [f32, f64] => integrals::exponential;
    fresnel_cosine: FresnelCos in [f32, f64] => integrals::fresnel_cosine;
    fresnel_sine: FresnelSin in [f32, f64] => integrals::fresnel_sine;
    spence: Spence in [f32, f64] => integrals::spence;
}
