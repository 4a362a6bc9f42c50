//! Values limited to a range, cross products, and half the sum of squares.

use crate::compute::loops::fold::L2Loss;
use crate::compute::loops::reduce::{Fold, Reduction, reduce};
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::{for_each_chunk, for_each_row_chunk};
use crate::compute::scalar::arith::{self, Number};
use crate::compute::scalar::elementary::Elementary;

/// Limits each element to `least` and `most`, which have one element or one for each. NaN is no limit. If the limits
/// are in the wrong order, `least` counts.
///
/// # Panics
/// Panics if a limit has another number of elements.
pub fn clip<T: Number>(least: &[T], most: &[T], out: &mut [T]) {
    let is_limit = |it: &[T]| it.len() == 1 || it.len() == out.len();
    assert!(
        is_limit(least) && is_limit(most),
        "limits of another length"
    );
    let at = |it: &[T], index: usize| if it.len() == 1 { it[0] } else { it[index] };
    for_each_chunk(out, cost::Cheap.grain(), |start, out| {
        for (index, out) in (start..).zip(out) {
            let (least, most) = (at(least, index), at(most, index));
            *out = arith::greatest(arith::least(*out, most), least);
        }
    });
}

/// Computes the cross products of vectors of three elements.
///
/// # Panics
/// Panics if the lengths differ, or are no multiple of 3.
pub fn cross<T: Number>(a: &[T], b: &[T], out: &mut [T]) {
    assert_eq!(
        [a.len(), b.len()],
        [out.len(); 2],
        "operands and result differ in length"
    );
    for_each_row_chunk(out, 3, cost::Cheap.grain(), |first, out| {
        let [a, b] = [a, b].map(|it| it[first * 3..][..out.len()].chunks_exact(3));
        for ((a, b), out) in a.zip(b).zip(out.chunks_exact_mut(3)) {
            for (i, out) in out.iter_mut().enumerate() {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                *out = a[j].times(b[k]).minus(a[k].times(b[j]));
            }
        }
    });
}

/// Returns half the sum of the squares.
pub fn l2_loss<T: Elementary>(x: &[T]) -> T
where
    L2Loss: Fold<T>,
{
    let (mut loss, plan) = ([T::ZERO], Reduction::vector(x.len()));
    reduce::<T, L2Loss>(&plan, x, &mut loss);
    loss[0]
}
