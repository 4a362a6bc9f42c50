//! Copies a block of a matrix into the order in which tiles read it. Each thread reuses its buffer.

use crate::compute::simd::Lanes;

/// The storage of a matrix: element `(i, p)` is `start[i * across + p * down]`, and one of the strides is 1.
#[derive(Clone, Copy)]
pub(super) struct Lines<T> {
    pub start: *const T,
    pub across: usize,
    pub down: usize,
}

/// A panel to pack: `count` by `k` elements, as `k` rows of `width`, with zeros from `count` on.
pub(super) struct Panel<T> {
    pub from: Lines<T>,
    pub count: usize,
    pub k: usize,
    pub width: usize,
}

/// Writes element `(i, p)` to `to[p * width + i]`.
///
/// # Safety
/// - `from` is valid for the panel's elements.
/// - The function that this is inlined into has the instruction set.
#[inline(always)]
pub(super) unsafe fn pack<V: Lanes<Scalar: Default>>(
    to: &mut [V::Scalar],
    panel: &Panel<V::Scalar>,
) {
    let Panel {
        from,
        count,
        k,
        width,
    } = *panel;
    let to = &mut to[..k * width];
    if count < width {
        to.fill(V::Scalar::default());
    }
    if from.across == 1 && count == 8 && width == 8 {
        for (p, row) in to.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            // SAFETY: row `p` of `from` has 8 contiguous elements. A copy of constant length is a load and a store, not
            // a call.
            *row = unsafe {
                from.start
                    .add(p * from.down)
                    .cast::<[V::Scalar; 8]>()
                    .read()
            };
        }
        return;
    }
    if from.across == 1 {
        for (p, row) in to.chunks_exact_mut(width).enumerate() {
            // SAFETY: row `p` of `from` has `count` contiguous elements.
            let source =
                unsafe { std::slice::from_raw_parts(from.start.add(p * from.down), count) };
            row[..count].copy_from_slice(source);
        }
        return;
    }
    let (squares, depth) = (count / V::SIDE * V::SIDE, k / V::SIDE * V::SIDE);
    for i in (0..squares).step_by(V::SIDE) {
        for p in (0..depth).step_by(V::SIDE) {
            // SAFETY: the square is within `from`, whose lines are rows here, and within `to`.
            unsafe {
                V::transpose(
                    from.start.add(i * from.across + p),
                    from.across,
                    to.as_mut_ptr().add(p * width + i),
                    width,
                )
            };
        }
    }
    for i in 0..count {
        for p in (if i < squares { depth } else { 0 })..k {
            // SAFETY: element `(i, p)` is within `from`.
            to[p * width + i] = unsafe { *from.start.add(i * from.across + p) };
        }
    }
}
