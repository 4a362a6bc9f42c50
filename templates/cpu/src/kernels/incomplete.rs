//! Incomplete gamma and beta functions, and the zeta function, computed in `f64`.

use super::elementwise::map_two;
use super::prelude::*;
use crate::compute::cast::Cast;
use crate::compute::incomplete as f;
use sp_plugin::kernel::{Kernel, kernels};

/// Functions of two floats: `name: Op(x, y) -> result => function`. They are called by a pointer, so that all have one loop.
macro_rules! functions {
    ($($name:ident: $op:ident($x:ident, $y:ident) => $f:path;)*) => {
        $(
            #[kernel($op, T = [f32, f64])]
            fn $name<T: Element + Precision<Compute = T> + Cast<f64>>($x: In<'_, T>, $y: In<'_, T>, z: Out<'_, T>) -> Result<()>
            where
                f64: Cast<T>,
            {
                let f: fn(f64, f64) -> f64 = $f;
                map_two(cost::Expensive, $x, $y, z, move |x, y| f(x.cast(), y.cast()).cast())
            }
        )*

        /// Returns the kernels of this file.
        pub fn table() -> Vec<&'static Kernel> {
            kernels![$($name,)* incomplete_beta]
        }
    };
}

functions! {
    lower_gamma: Igamma(a, x) => f::lower_gamma;
    upper_gamma: Igammac(a, x) => f::upper_gamma;
    zeta: Zeta(x, q) => f::zeta;
    polygamma: Polygamma(a, x) => f::polygamma;
}

#[kernel(Betainc, T = [f32, f64])]
fn incomplete_beta<T: Element + Cast<f64>>(
    a: In<'_, T>,
    b: In<'_, T>,
    x: In<'_, T>,
    z: Out<'_, T>,
) -> Result<()>
where
    f64: Cast<T>,
{
    let operands = [&a, &b, &x];
    let largest = operands.iter().find(|it| !it.dims().is_empty());
    let dims = largest.map_or(&[][..], |it| it.dims());
    if operands
        .iter()
        .any(|it| !it.dims().is_empty() && it.dims() != dims)
    {
        let [a, b, x] = operands.map(|it| it.dims());
        return invalid!(
            "a, b and x must have one shape or be scalars, not {a:?}, {b:?} and {x:?}"
        );
    }
    z.uninit(dims)?.write_with(|at| {
        let [a, b, x] = operands.map(|it| -> f64 { it.data()[at.min(it.len() - 1)].cast() });
        f::beta(a, b, x).cast()
    });
    Ok(())
}
