//! Buffers of a computation. Each thread reuses its own, so a call allocates only if no earlier one was as large.

use sp_plugin::Bool;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A cache line, which gives buffers their alignment.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A type for which all bits are valid.
///
/// # Safety
/// - All bit patterns are values, and the alignment is at most that of a cache line.
pub unsafe trait AnyBits: Copy {}

macro_rules! any_bits {
    ($($ty:ty)*) => {$(
        // SAFETY: all bit patterns are numbers; a `Bool` is any byte.
        unsafe impl AnyBits for $ty {}
    )*};
}

any_bits!(f32 f64 u8 i8 u16 i16 u32 i32 u64 i64 Bool);

thread_local! {
    /// The buffers that no computation uses. Nested computations take one each, the outermost the last.
    static BUFFERS: RefCell<Vec<Vec<Line>>> = const { RefCell::new(Vec::new()) };
}

/// Elements that are aligned to a cache line. Their memory is reused by the thread that drops them.
pub struct Buffer<T: AnyBits> {
    lines: Vec<Line>,
    len: usize,
    element: PhantomData<T>,
}

impl<T: AnyBits> Buffer<T> {
    /// Creates a buffer of `len` elements, of unspecified values.
    ///
    /// # Panics
    /// Panics if no object can have so many elements.
    pub fn new(len: usize) -> Self {
        let mut lines = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
        let bytes = len.checked_mul(size_of::<T>());
        let needed = bytes.expect("no object has so many elements").div_ceil(64);
        if lines.len() < needed {
            lines.resize(needed, Line([0; 64]));
        }
        let element = PhantomData;
        Self {
            lines,
            len,
            element,
        }
    }
}

impl<T: AnyBits> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the lines are initialized, long enough and aligned for `T`, for which all bits are valid.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: AnyBits> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; the lines are borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

impl<T: AnyBits> Drop for Buffer<T> {
    fn drop(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        // A thread that ends has no list any more.
        let _ = BUFFERS.try_with(|free| free.borrow_mut().push(lines));
    }
}

/// Calls `body` with a buffer of `len` elements that is aligned to a cache line and has unspecified contents.
///
/// # Panics
/// Panics if no object can have so many elements.
pub fn with_buffer<T: AnyBits, R>(len: usize, body: impl FnOnce(&mut [T]) -> R) -> R {
    body(&mut Buffer::new(len))
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
