//! The largest elements of each row.

use super::write_indices;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk2;
use sp_plugin::allocation;
use std::cell::Cell;
use std::cmp::Ordering;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Largest number of candidates whose memory a thread keeps.
const MAX_KEPT: usize = 1 << 16;

thread_local! {
    /// The memory of the thread's last rows, so that the next rows of as many candidates allocate none.
    static CANDIDATES: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// An element with a total order, in which NaN is the smallest.
pub trait Order: Copy + Send + Sync {
    /// Compares two elements.
    fn order(self, other: Self) -> Ordering;

    /// Returns true if `self` is greater in this order. Unlike [`Order::order`] it has no branches.
    fn is_above(self, other: Self) -> bool;
}

/// Writes the `k` largest elements of each row of `row_len` elements, the largest first, and their indices, each of
/// `width` bytes. Of equal elements the one with the lower index is first.
///
/// # Panics
/// Panics if a slice has another length than the dims imply.
pub fn top_k<T: Order>(
    [row_len, k]: [usize; 2],
    x: &[T],
    values: &mut [MaybeUninit<T>],
    indices: &mut [MaybeUninit<u8>],
    width: usize,
) {
    if values.is_empty() {
        return;
    }
    // The grain counts results, each of which costs `row_len / k` elements.
    let grain = (cost::Expensive.grain() * k / row_len).max(1);
    for_each_row_chunk2(
        (values, k),
        (indices, k * width),
        grain,
        |first, values, indices| {
            let mut candidates = CANDIDATES.take();
            let rows = values
                .chunks_exact_mut(k)
                .zip(indices.chunks_exact_mut(k * width));
            for (row, (values, indices)) in rows.enumerate() {
                let x = &x[(first + row) * row_len..][..row_len];
                select(x, k, &mut candidates);
                let found = candidates.iter().map(|it| *it as usize);
                for (value, index) in values.iter_mut().zip(found.clone()) {
                    value.write(x[index]);
                }
                write_indices(indices, width, found);
            }
            candidates.clear();
            candidates.shrink_to(MAX_KEPT);
            CANDIDATES.set(candidates);
        },
    );
}

/// Elements that are compared together.
const PART: usize = 32;

/// Returns true if an element is greater than `least`.
fn has_above<T: Order>(x: &[T], least: T) -> bool {
    x.iter().fold(false, |found, it| found | it.is_above(least))
}

/// Collects the indices of the `k` largest elements, the largest first.
///
/// Most elements are compared only with the smallest of the `k` largest before them: an equal one has a higher index.
fn select<T: Order>(x: &[T], k: usize, candidates: &mut Vec<u64>) {
    let mut least: Option<T> = None;
    candidates.clear();
    for (part, elements) in x.chunks(PART).enumerate() {
        if least.is_none_or(|least| has_above(elements, least)) {
            let first = part * PART;
            least = collect(x, first..first + elements.len(), k, least, candidates);
        }
    }
    if candidates.len() > k {
        keep_largest(x, k, candidates);
    }
    candidates.sort_unstable_by(|a, b| compare(x, a, b));
}

/// Collects candidates of a range, and returns the element that others must be greater than.
fn collect<T: Order>(
    x: &[T],
    range: Range<usize>,
    k: usize,
    mut least: Option<T>,
    candidates: &mut Vec<u64>,
) -> Option<T> {
    for (index, value) in range.clone().zip(&x[range]) {
        if least.is_some_and(|least| !value.is_above(least)) {
            continue;
        }
        if k == 1 {
            candidates.clear();
            least = Some(*value);
        }
        allocation::push(candidates, index as u64);
        if candidates.len() == k.saturating_mul(2) {
            least = Some(keep_largest(x, k, candidates));
        }
    }
    least
}

/// Removes all candidates but the `k` largest; returns the smallest of these.
fn keep_largest<T: Order>(x: &[T], k: usize, candidates: &mut Vec<u64>) -> T {
    let (_, last, _) = candidates.select_nth_unstable_by(k - 1, |a, b| compare(x, a, b));
    let least = x[*last as usize];
    candidates.truncate(k);
    least
}

/// Compares candidates, the largest first.
fn compare<T: Order>(x: &[T], a: &u64, b: &u64) -> Ordering {
    x[*b as usize].order(x[*a as usize]).then(a.cmp(b))
}
