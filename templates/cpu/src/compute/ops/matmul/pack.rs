//! Copies a block of a matrix into the order in which tiles read it. Each thread reuses its buffer.

use crate::compute::machine::simd::Lanes;

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
    // SAFETY: the caller's obligations are the same.
    unsafe {
        match from.across {
            1 => copy_rows::<V>(to, panel),
            _ => transpose::<V>(to, panel),
        }
    }
}

/// Packs a panel whose rows are stored as rows.
///
/// # Safety
/// - The obligations of [`pack`].
#[inline(always)]
unsafe fn copy_rows<V: Lanes>(to: &mut [V::Scalar], panel: &Panel<V::Scalar>) {
    let Panel {
        from, count, width, ..
    } = *panel;
    let whole = count / V::COUNT * V::COUNT;
    for (p, row) in to.chunks_exact_mut(width).enumerate() {
        // SAFETY: row `p` of `from` has `count` contiguous elements. The caller guarantees the instruction set of `load` and
        // `store`, which accept any alignment; the slice has the elements that `store` writes. Copies of constant length are
        // no calls.
        unsafe {
            let source = from.start.add(p * from.down);
            if let ([row], true) = (row.as_chunks_mut::<8>().0, count == 8) {
                *row = source.cast::<[V::Scalar; 8]>().read();
                continue;
            }
            for j in (0..whole).step_by(V::COUNT) {
                V::load(source.add(j)).store(row[j..j + V::COUNT].as_mut_ptr());
            }
            let rest = std::slice::from_raw_parts(source.add(whole), count - whole);
            row[whole..count].copy_from_slice(rest);
        }
    }
}

/// Packs a panel whose rows are stored as columns.
///
/// # Safety
/// - The obligations of [`pack`].
#[inline(always)]
unsafe fn transpose<V: Lanes>(to: &mut [V::Scalar], panel: &Panel<V::Scalar>) {
    let Panel {
        from,
        count,
        k,
        width,
    } = *panel;
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
