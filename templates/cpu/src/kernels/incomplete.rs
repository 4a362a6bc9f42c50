//! The incomplete beta function, computed in `f64`.

use super::prelude::*;
use crate::compute::cast::Cast;
use crate::compute::incomplete as f;
use sp_plugin::kernel::{Kernel, kernels};

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

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![incomplete_beta]
}
