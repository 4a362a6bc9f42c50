//! Kernels of sparse tensors: indices of elements, and their values.

use super::gather::to_indices;
use super::movement::{check_vector, fill_bytes, shape_of};
use super::prelude::*;
use crate::compute::sparse::Points;
use crate::compute::sparse::matrix::Matrix;

#[kernel(SparseToDense, T = [..], Tindices = [i32, i64])]
fn to_dense(
    sparse_indices: BytesIn<'_>,
    output_shape: HostIn<'_, Index>,
    sparse_values: BytesIn<'_>,
    default_value: BytesIn<'_>,
    dense: BytesOut<'_>,
    validate_indices: bool,
) -> Result<()> {
    check_vector("output_shape", output_shape.dims())?;
    let dims = shape_of(&output_shape)?;
    let points = Points::new(sparse_indices.dims(), to_indices(&sparse_indices)?, &dims)?;
    points.check_values(sparse_values.dims())?;
    check_scalar("default_value", default_value.dims())?;
    points.check(validate_indices)?;
    let mut dense = dense.uninit(&dims)?;
    let (width, bytes) = (sparse_values.width(), dense.as_uninit_slice());
    fill_bytes(bytes, default_value.as_uninit_slice(), width);
    points.write(width, sparse_values.as_uninit_slice(), bytes);
    Ok(())
}

#[kernel(
    SparseTensorDenseMatMul,
    T = [F16, Bf16, f32, f64, i32],
    Tindices = [i32, i64]
)]
fn mat_mul<T: Element + Precision<Compute: Number>>(
    a_indices: BytesIn<'_>,
    a_values: In<'_, T>,
    a_shape: HostIn<'_, i64>,
    b: In<'_, T>,
    product: Out<'_, T>,
    adjoint_a: bool,
    adjoint_b: bool,
) -> Result<()> {
    let a = Matrix {
        indices: to_indices(&a_indices)?,
        dims: read_matrix_dims(&a_shape)?,
        is_transposed: adjoint_a,
    };
    let [inner, columns] = a.check(a_indices.dims(), a_values.dims(), b.dims(), adjoint_b)?;
    let mut product = product.zeroed(&[a.rows(), columns])?;
    let (values, b) = (T::widened(a_values.data()), T::widened(b.data()));
    T::update(&mut product, |product| {
        a.multiply(&values, &b, [inner, columns], adjoint_b, product)
    })?;
    Ok(())
}

/// Returns the dims of a matrix.
fn read_matrix_dims(shape: &HostIn<'_, i64>) -> Result<[usize; 2]> {
    let invalid = || {
        let (sizes, dims) = (listed(shape.data()), shape.dims());
        let message = format!("a_shape must be two sizes, got {sizes} of shape {dims:?}");
        Error::invalid_argument(message)
    };
    let (&[rows, columns], [_]) = (shape.data(), shape.dims()) else {
        return Err(invalid());
    };
    match (usize::try_from(rows), usize::try_from(columns)) {
        (Ok(rows), Ok(columns)) => Ok([rows, columns]),
        _ => Err(invalid()),
    }
}

table! { to_dense, mat_mul }
