//! Copies of the elements of a view, and to them.

use super::transpose::{copy_deinterleaved, copy_transposed, is_deinterleaving};
use super::view::{Axis, View};
use super::{by_width, elements, elements_mut};
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::machine::runs;

/// Copies the elements of a view.
///
/// # Panics
/// Panics if the view reads outside of `source`, or `out` has another length than the view.
pub fn copy<B: Copy + Send + Sync>(view: &View, width: usize, source: &[B], out: &mut [B]) {
    by_width!(width, N => copy_elements(view, elements::<B, N>(source), elements_mut::<B, N>(out)))
}

/// Copies the elements of a view to `out`, as [`copy`].
///
/// # Panics
/// Panics if the view reads outside of `source`, or `out` has another length than the view.
pub fn copy_elements<T: Copy + Send + Sync>(view: &View, source: &[T], out: &mut [T]) {
    view.check(source.len());
    assert_eq!(out.len(), view.len(), "result and view differ in length");
    if out.is_empty() {
        return;
    }
    let (inner, outer) = view.split_inner();
    let grain = cost::Cheap.grain();
    if let Some(repeated) = view.repeated_part() {
        return copy_repeated(&repeated, source, out);
    }
    if outer.is_empty() {
        return for_each_row_chunk(out, 1, grain, |start, out| {
            let offset = view.offset.wrapping_add_signed(start as isize * inner.step);
            runs::copy_steps(source, offset, inner.step, out);
        });
    }
    let is_transposed = matches!(outer, [.., Axis { step: 1, .. }]) && inner.step != 1;
    if is_transposed && is_deinterleaving(view) {
        return copy_deinterleaved(view, source, out);
    }
    for_each_row_chunk(out, inner.len, grain, |first, out| {
        if is_transposed {
            return copy_transposed(view, source, first, out);
        }
        let rows = out.len() / inner.len;
        view.for_each_row(first, rows, |row, offset| {
            let out = &mut out[row * inner.len..];
            match inner.step {
                0 | 1 => runs::copy_run(&source[offset..], inner.step == 0, inner.len, out),
                step => runs::copy_steps(source, offset, step, &mut out[..inner.len]),
            }
        });
    });
}

/// Copies the elements of a view once, and then the copy until `out` is full.
fn copy_repeated<T: Copy + Send + Sync>(view: &View, source: &[T], out: &mut [T]) {
    let (first, rest) = out.split_at_mut(view.len());
    copy_elements(view, source, first);
    let first = &*first;
    for_each_row_chunk(rest, first.len(), cost::Cheap.grain(), |_, out| {
        runs::repeat(first, out);
    });
}

/// Writes the elements of `source` to the elements of a view of `out`: the inverse of [`copy`].
///
/// # Panics
/// Panics if the view is outside of `out`, or `source` has another length than the view.
pub fn scatter<B: Copy>(view: &View, width: usize, source: &[B], out: &mut [B]) {
    by_width!(width, N => scatter_elements(view, elements::<B, N>(source), elements_mut::<B, N>(out)))
}

/// Writes the elements of `source` to the elements of a view of `out`, as [`scatter`].
///
/// # Panics
/// Panics if the view is outside of `out`, or `source` has another length than the view.
pub fn scatter_elements<T: Copy>(view: &View, source: &[T], out: &mut [T]) {
    view.check(out.len());
    assert_eq!(source.len(), view.len(), "source and view differ in length");
    if source.is_empty() {
        return;
    }
    let (inner, _) = view.split_inner();
    view.for_each_row(0, source.len() / inner.len, |row, offset| {
        let run = &source[row * inner.len..][..inner.len];
        if inner.step == 1 {
            return out[offset..offset + inner.len].copy_from_slice(run);
        }
        let mut offset = offset;
        for element in run {
            out[offset] = *element;
            offset = offset.wrapping_add_signed(inner.step);
        }
    });
}
