//! Buffers of a computation. Each thread reuses its own, so a call allocates only if no earlier one was as large.

use sp_plugin::{Bf16, Bool, Complex64, F16};
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
/// - All bit patterns are values, there is no padding, and the alignment is at most that of a cache line.
pub unsafe trait AnyBits: Copy {}

macro_rules! any_bits {
    ($($ty:ty)*) => {$(
        // SAFETY: all bit patterns are numbers, without padding; a `Bool` is any byte.
        unsafe impl AnyBits for $ty {}
    )*};
}

any_bits!(f32 f64 u8 i8 u16 i16 u32 i32 u64 i64 usize Bf16 F16 Bool Complex64);

// SAFETY: an array has no padding of its own, and the alignment of its elements.
unsafe impl<T: AnyBits, const N: usize> AnyBits for [T; N] {}

/// Largest buffer that a thread keeps, in bytes. Larger ones have whole tensors.
const MAX_KEPT: usize = 16 << 20;

thread_local! {
    /// The buffers that no computation uses. Nested computations take one each, the outermost the last.
    static BUFFERS: RefCell<Vec<Vec<Line>>> = const { RefCell::new(Vec::new()) };
}

/// Elements that are aligned to a cache line. The thread that drops them reuses their memory, unless they are large.
pub struct Buffer<T: AnyBits> {
    lines: Vec<Line>,
    len: usize,
    element: PhantomData<T>,
}

impl<T: AnyBits> Buffer<T> {
    /// Creates a buffer of `len` elements, of unspecified values.
    ///
    /// # Panics
    /// Panics if no object can have so many elements, or if there is not enough memory.
    pub fn new(len: usize) -> Self {
        let mut lines = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
        let bytes = len.checked_mul(size_of::<T>());
        let needed = bytes.expect("no object has so many elements").div_ceil(64);
        if lines.len() < needed {
            lines.clear();
            // A panic fails the call, and the process goes on.
            let reserved = lines.try_reserve_exact(needed);
            reserved.expect("there is not enough memory");
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
        if size_of_val(&*lines) > MAX_KEPT {
            return;
        }
        // A thread that ends has no list any more.
        let _ = BUFFERS.try_with(|free| free.borrow_mut().push(lines));
    }
}

/// Calls `body` with a buffer of `len` elements that is aligned to a cache line and has unspecified contents.
///
/// # Panics
/// Panics if no object can have so many elements, or if there is not enough memory.
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
    #[should_panic(expected = "there is not enough memory")]
    fn lack_of_memory_is_a_panic() {
        with_buffer(usize::MAX / 4, |_: &mut [u8]| ());
    }

    #[test]
    fn thread_keeps_small_buffers_only() {
        let kept =
            || BUFFERS.with_borrow(|it| it.iter().map(|it| size_of_val(&**it)).sum::<usize>());
        with_buffer(MAX_KEPT / 4 + 16, |_: &mut [f32]| ());
        assert_eq!(kept(), 0);
        with_buffer(MAX_KEPT / 4, |_: &mut [f32]| ());
        assert_eq!(kept(), MAX_KEPT);
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
