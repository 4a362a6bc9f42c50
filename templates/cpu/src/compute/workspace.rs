//! Buffers of a computation. Each thread reuses its own, so a call allocates only if no earlier one was as large.

use std::cell::RefCell;

/// A cache line, which gives buffers their alignment.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A type for which all bits are valid.
///
/// # Safety
/// - All bit patterns are values, and the alignment is at most that of a cache line.
pub unsafe trait AnyBits: Copy {}

// SAFETY: all bit patterns are floats.
unsafe impl AnyBits for f32 {}
// SAFETY: as above.
unsafe impl AnyBits for f64 {}

thread_local! {
    /// The buffers that no computation uses. Nested computations take one each, the outermost the last.
    static BUFFERS: RefCell<Vec<Vec<Line>>> = const { RefCell::new(Vec::new()) };
}

/// Calls `body` with a buffer of `len` elements that is aligned to a cache line and has unspecified contents.
///
/// # Panics
/// Panics if no object can have so many elements.
pub fn with_buffer<T: AnyBits, R>(len: usize, body: impl FnOnce(&mut [T]) -> R) -> R {
    let mut lines = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
    let bytes = len
        .checked_mul(size_of::<T>())
        .expect("no object has so many elements");
    let needed = bytes.div_ceil(64);
    if lines.len() < needed {
        lines.resize(needed, Line([0; 64]));
    }
    // SAFETY: the lines are initialized, long enough and aligned for `T`, for which all bits are valid.
    let buffer = unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<T>(), len) };
    let result = body(buffer);
    BUFFERS.with_borrow_mut(|free| free.push(lines));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "no object has so many elements")]
    fn rejects_length_whose_size_overflows() {
        with_buffer(usize::MAX / 4 + 2, |_: &mut [f32]| ());
    }

    #[test]
    fn nested_computations_have_buffers_of_their_own() {
        with_buffer(5, |outer: &mut [f32]| {
            outer.fill(1.0);
            with_buffer(100, |inner: &mut [f64]| inner.fill(2.0));
            with_buffer(7, |inner: &mut [f32]| assert_eq!(inner.len(), 7));
            assert_eq!(outer, [1.0; 5]);
        });
    }
}
