//! Products of many matrices of one shape.

use super::{Factor, Product, matmul, matmul_int};
use crate::compute::loops::precision::Precision;
use crate::compute::loops::reduce::{Fold, Reduction, Sum, reduce};
use crate::compute::machine::parallel::for_each_block;
use crate::compute::machine::shape::offset_of_iteration;
use crate::compute::machine::workspace::zeroed;
use crate::compute::scalar::arith::Number;
use crate::compute::{Broadcast, Result};
use sp_plugin::allocation;
use sp_plugin::{Bf16, Complex64, F16};

/// A type of matrix elements that may be computed in another type.
pub trait Multiplied: Precision {
    /// Computes a product before rounding, as [`Factor::multiply`] or [`matmul_int`].
    fn write_product(product: Product, a: &[Self], b: &[Self], c: &mut [Self::Compute]);
}

/// A type of matrix elements that is computed as it is. Its default value is 0.
pub trait Multiply: Default + Multiplied<Compute = Self> {
    /// Sums each row of `x`, which has a row for each element of `sums`.
    fn sum_rows(plan: &Reduction, x: &[Self], sums: &mut [Self]);
}

impl<T: Number + Multiplied<Compute = T>> Multiply for T
where
    Sum: Fold<T>,
{
    fn sum_rows(plan: &Reduction, x: &[Self], sums: &mut [Self]) {
        reduce::<T, Sum>(plan, x, sums);
    }
}

impl Multiply for Complex64 {
    fn sum_rows(plan: &Reduction, x: &[Self], sums: &mut [Self]) {
        for (row, sum) in x.chunks_exact(plan.count().max(1)).zip(sums) {
            *sum = row.iter().fold(Self::ZERO, |sum, x| sum + *x);
        }
    }
}

macro_rules! multiplied {
    ($($ty:ty => $function:expr;)*) => {$(
        impl Multiplied for $ty {
            fn write_product(product: Product, a: &[Self], b: &[Self], c: &mut [Self::Compute]) {
                $function(product, a, b, c)
            }
        }
    )*};
}

multiplied! {
    F16 => float;
    Bf16 => float;
    f32 => float;
    f64 => float;
    i32 => |product, a: &[i32], b: &[i32], c| matmul_int(product, &i32::widened(a), &i32::widened(b), c);
    i64 => matmul_int;
}

impl Multiplied for Complex64 {
    /// Computes the four products of the real and imaginary parts, by the loops of `f32`.
    fn write_product(product: Product, a: &[Self], b: &[Self], c: &mut [Self]) {
        let split = |x: &[Self]| -> [Vec<f32>; 2] {
            [
                allocation::collect(x.iter().map(|x| x.re)),
                allocation::collect(x.iter().map(|x| x.im)),
            ]
        };
        let ([a_re, a_im], [b_re, b_im]) = (split(a), split(b));
        let multiply = |a: &[f32], b: &[f32]| {
            let mut c = zeroed(product.m * product.n);
            matmul(product, a, b, &mut c);
            c
        };
        let [re, im] = [multiply(&a_re, &b_re), multiply(&a_re, &b_im)];
        let [re_of_im, im_of_re] = [multiply(&a_im, &b_im), multiply(&a_im, &b_re)];
        for (at, c) in c.iter_mut().enumerate() {
            *c = Self::new(re[at] - re_of_im[at], im[at] + im_of_re[at]);
        }
    }
}

fn float<T: Factor>(product: Product, a: &[T], b: &[T], c: &mut [T::Compute]) {
    T::multiply(product, a, b, c, None);
}

/// The number of multiply-adds of products that are computed in one task.
const GRAIN: usize = 64 * 1024;

/// The matrices of both operands that are multiplied for each matrix of the result.
#[derive(Clone, Debug)]
pub struct Batch {
    product: Product,
    pairs: Vec<[usize; 2]>,
}

impl Batch {
    /// Creates the batch of `count` products, each of the next matrices of both operands.
    ///
    /// # Panics
    /// Panics if there is not enough memory.
    pub fn new(count: usize, product: Product) -> Self {
        // Matrices without elements may be more than memory has room for.
        let count = if product.m == 0 || product.n == 0 {
            0
        } else {
            count
        };
        let pairs = allocation::collect((0..count).map(|i| [i; 2]));
        Self { product, pairs }
    }

    /// Creates the batch for dims of batches that broadcast, and returns it with the dims of the result's batch.
    ///
    /// # Errors
    /// Returns [`Error::Incompatible`](crate::compute::Error) if the dims cannot be broadcast.
    ///
    /// # Panics
    /// Panics if there is not enough memory for all left matrices.
    pub fn broadcast(dims: [&[usize]; 2], product: Product) -> Result<(Self, Vec<usize>)> {
        let plan = Broadcast::new(dims)?;
        if product.m == 0 || product.n == 0 {
            return Ok((Self::new(0, product), plan.dims().to_vec()));
        }
        // With one right matrix for all, the left ones are the rows of one matrix.
        let is_one = dims[1].iter().all(|dim| *dim == 1) && !product.transpose_a;
        if is_one && !plan.is_empty() {
            let rows = Product {
                m: product.m.checked_mul(plan.len()).expect("rows in memory"),
                ..product
            };
            return Ok((Self::new(1, rows), plan.dims().to_vec()));
        }
        // Small operands may have many pairs.
        let mut pairs = allocation::with_capacity(plan.len());
        if let Some((inner, outer)) = plan.loops().split_last() {
            for run in 0..plan.len() / inner.len.max(1) {
                let [a, b] = [0, 1].map(|operand| offset_of_iteration(outer, operand, run));
                let [a_step, b_step] = inner.steps;
                pairs.extend((0..inner.len).map(|i| [a + i * a_step, b + i * b_step]));
            }
        }
        Ok((Self { product, pairs }, plan.dims().to_vec()))
    }
}

/// Computes all products; `c` has one matrix for each.
///
/// # Panics
/// Panics if a slice is too short for the matrices of the batch.
pub fn multiply_batch<T: Multiplied>(batch: &Batch, a: &[T], b: &[T], c: &mut [T::Compute]) {
    let Product { m, k, n, .. } = batch.product;
    assert_eq!(
        c.len(),
        batch.pairs.len() * m * n,
        "the result is not one matrix for each product"
    );
    if c.is_empty() {
        return;
    }
    let work = m.saturating_mul(k).saturating_mul(n);
    let group = (GRAIN / work.max(1)).clamp(1, batch.pairs.len());
    for_each_block(c, group * m * n, |index, c| {
        let pairs = &batch.pairs[index * group..];
        for ([i, j], c) in pairs.iter().zip(c.chunks_exact_mut(m * n)) {
            T::write_product(
                batch.product,
                &a[i * m * k..][..m * k],
                &b[j * k * n..][..k * n],
                c,
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matrices without terms take no memory, so there can be any number of them.
    #[test]
    fn lack_of_memory_for_the_pairs_of_matrices_is_an_error_of_the_call() {
        let product = Product::new([2, 0], [0, 3], false, false).unwrap();
        let broadcast = || Batch::broadcast([&[1 << 44], &[1 << 44]], product);
        let payload = std::panic::catch_unwind(broadcast).unwrap_err();
        let error = payload.downcast::<sp_plugin::Error>().unwrap();
        assert_eq!(error.code(), sp_plugin::Code::RESOURCE_EXHAUSTED);
    }

    #[test]
    fn one_right_matrix_needs_no_pairs() {
        let product = Product::new([2, 0], [0, 3], false, false).unwrap();
        let (_, dims) = Batch::broadcast([&[1 << 44], &[1]], product).unwrap();
        assert_eq!(dims, [1 << 44]);
    }
}
