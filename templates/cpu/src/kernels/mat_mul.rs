//! The product of two matrices, either of which may be stored transposed.

use super::prelude::*;
use crate::compute::matmul::{Factor, Multiplied, Product};

#[kernel(MatMul, T = [F16, Bf16, f32, f64])]
fn mat_mul<T: Element + Factor>(
    a: In<'_, T>,
    b: In<'_, T>,
    product: Out<'_, T>,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<()> {
    let plan = plan([a.dims(), b.dims()], [transpose_a, transpose_b])?;
    let mut product = product.unspecified(&[plan.m, plan.n])?;
    T::overwrite(&mut product, |product| {
        T::multiply(plan, a.data(), b.data(), product, None)
    });
    Ok(())
}

#[kernel(MatMul, T = [i32, i64, Complex64])]
fn mat_mul_rare<T: Element + Multiplied>(
    a: In<'_, T>,
    b: In<'_, T>,
    product: Out<'_, T>,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<()> {
    let plan = plan([a.dims(), b.dims()], [transpose_a, transpose_b])?;
    let mut product = product.unspecified(&[plan.m, plan.n])?;
    T::overwrite(&mut product, |product| {
        T::write_product(plan, a.data(), b.data(), product)
    });
    Ok(())
}

table! { mat_mul, mat_mul_rare }

/// Returns the product of matrices that are stored with these dims.
///
/// # Errors
/// Returns an error if an operand is no matrix, or the inner dims differ.
pub fn plan([a, b]: [&[usize]; 2], [transpose_a, transpose_b]: [bool; 2]) -> Result<Product> {
    if a.len() != b.len() && (a.len() != 2 || b.len() != 2) {
        return invalid!(
            "In[0] and In[1] has different ndims: {} vs. {}, and one is not a matrix",
            Dims(a),
            Dims(b)
        );
    }
    let plan = Product::new(matrix(0, a)?, matrix(1, b)?, transpose_a, transpose_b);
    plan.ok_or_else(|| {
        Error::invalid_argument(format!(
            "Matrix size-incompatible: In[0]: {}, In[1]: {}",
            Dims(a),
            Dims(b)
        ))
    })
}

/// Returns the two dims of an operand.
fn matrix(index: usize, dims: &[usize]) -> Result<[usize; 2]> {
    let error = || {
        Error::invalid_argument(format!(
            "In[{index}] is not a matrix: it has shape {}, but must be rank 2",
            Dims(dims)
        ))
    };
    dims.try_into().map_err(|_| error())
}
