//! MatMul: the product of two matrices, either of which may be stored transposed.

use super::prelude::*;
use crate::compute::matmul::{Product, Tiled, matmul};

#[derive(Attributes)]
struct MatMul {
    transpose_a: bool,
    transpose_b: bool,
}

#[kernel(op = "MatMul", T = [f32, f64])]
fn mat_mul<T: Element + Tiled>(cx: &Host<'_>, attributes: &MatMul) -> Result<()> {
    let (a, b) = (cx.input::<T>(0)?, cx.input::<T>(1)?);
    let product = attributes.product(a.dims(), b.dims()).ok_or_else(|| {
        let (a, b) = (a.dims(), b.dims());
        Error::invalid_argument(format!(
            "Matrix size-incompatible: In[0]: {a:?}, In[1]: {b:?}"
        ))
    })?;
    matmul(
        product,
        a.data(),
        b.data(),
        cx.output(0, &[product.m, product.n])?,
    );
    Ok(())
}

impl MatMul {
    fn product(&self, a: &[usize], b: &[usize]) -> Option<Product> {
        let (a, b) = (a.try_into().ok()?, b.try_into().ok()?);
        Product::new(a, b, self.transpose_a, self.transpose_b)
    }
}
