//! The product of two matrices, either of which may be stored transposed.

use super::prelude::*;
use crate::compute::matmul::{Product, Tiled, matmul};

#[kernel(MatMul, T = [F16, Bf16, f32, f64])]
fn mat_mul<T: Element + Precision<Compute: Tiled>>(
    a: In<'_, T>,
    b: In<'_, T>,
    product: Out<'_, T>,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<()> {
    let dims = a.dims().try_into().ok().zip(b.dims().try_into().ok());
    let plan = dims.and_then(|(a, b)| Product::new(a, b, transpose_a, transpose_b));
    let plan = plan.ok_or_else(|| {
        let (a, b) = (a.dims(), b.dims());
        Error::invalid_argument(format!(
            "Matrix size-incompatible: In[0]: {a:?}, In[1]: {b:?}"
        ))
    })?;
    let (a, b) = (T::widened(a.data()), T::widened(b.data()));
    let mut product = product.zeroed(&[plan.m, plan.n])?;
    T::update(&mut product, |product| matmul(plan, &a, &b, product));
    Ok(())
}
