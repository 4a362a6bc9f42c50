//! Products of integers: the triple loop, with the innermost loop along contiguous memory.

use super::Product;
use crate::compute::scalar::arith::Integer;

/// Computes the rows of the result from `first` on.
#[inline(always)]
pub(super) fn rows<T: Integer>(product: &Product, a: &[T], b: &[T], first: usize, c: &mut [T]) {
    let Product {
        m,
        k,
        n,
        transpose_a,
        transpose_b,
    } = *product;
    if n == 0 {
        return;
    }
    for (row, c) in c.chunks_exact_mut(n).enumerate() {
        let (row, step) = if transpose_a {
            (first + row, m)
        } else {
            ((first + row) * k, 1)
        };
        let left = |p: usize| a[row + p * step];
        if transpose_b {
            for (j, c) in c.iter_mut().enumerate() {
                let column = &b[j * k..(j + 1) * k];
                *c = column.iter().enumerate().fold(
                    T::ZERO,
                    #[inline(always)]
                    |sum, (p, y)| sum.plus(left(p).times(*y)),
                );
            }
        } else {
            c.fill(T::ZERO);
            for p in 0..k {
                let (x, b) = (left(p), &b[p * n..(p + 1) * n]);
                c.iter_mut().zip(b).for_each(
                    #[inline(always)]
                    |(c, y)| *c = c.plus(x.times(*y)),
                );
            }
        }
    }
}
