//! Buffers of a computation. Each thread reuses its own, so a call allocates only if no earlier one was as large.

use sp_plugin::{Bf16, Bool, Complex64, F16, allocation};
use std::alloc::{Layout, alloc_zeroed};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

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
    /// Unwinds with an error of the code `RESOURCE_EXHAUSTED` if there is not enough memory.
    pub fn new(len: usize) -> Self {
        let mut lines = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
        let needed = len.saturating_mul(size_of::<T>()).div_ceil(64);
        if lines.len() < needed {
            lines.clear();
            if lines.try_reserve_exact(needed).is_err() {
                allocation::out_of_memory(needed.saturating_mul(64));
            }
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
/// Unwinds with an error of the code `RESOURCE_EXHAUSTED` if there is not enough memory.
pub fn with_buffer<T: AnyBits, R>(len: usize, body: impl FnOnce(&mut [T]) -> R) -> R {
    body(&mut Buffer::new(len))
}

/// Creates a list of zeros. The system's zeroed pages are not written again.
///
/// # Panics
/// Unwinds with an error of the code `RESOURCE_EXHAUSTED` if there is not enough memory.
pub fn zeroed<T: AnyBits>(len: usize) -> Vec<T> {
    let bytes = len.saturating_mul(size_of::<T>());
    let layout = Layout::array::<T>(len).unwrap_or_else(|_| allocation::out_of_memory(bytes));
    let start = match layout.size() {
        0 => NonNull::dangling().as_ptr(),
        // SAFETY: the size of the layout is not 0.
        _ => unsafe { alloc_zeroed(layout) }.cast::<T>(),
    };
    if start.is_null() {
        allocation::out_of_memory(bytes);
    }
    // SAFETY: the global allocator has allocated the memory with the layout of `len` elements, or this has no bytes. All bits
    // are valid elements.
    unsafe { Vec::from_raw_parts(start, len, len) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_plugin::{Code, Error};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn code_of<T>(body: impl FnOnce() -> T) -> Code {
        let payload = catch_unwind(AssertUnwindSafe(|| drop(body()))).unwrap_err();
        payload.downcast::<Error>().unwrap().code()
    }

    #[test]
    fn lack_of_memory_is_an_error_of_the_call() {
        for len in [usize::MAX / 4, usize::MAX / 4 + 2, usize::MAX] {
            let codes = [
                code_of(|| Buffer::<f32>::new(len)),
                code_of(|| zeroed::<f32>(len)),
                code_of(|| zeroed::<u8>(len)),
            ];
            assert_eq!(codes, [Code::RESOURCE_EXHAUSTED; 3]);
        }
    }

    #[test]
    fn zeroed_list_grows_as_any_other() {
        for len in [0, 1, 1000] {
            let mut list = zeroed::<[f64; 2]>(len);
            assert_eq!(list, vec![[0.0; 2]; len]);
            list.push([1.0, 2.0]);
            assert_eq!(list.len(), len + 1);
        }
        assert_eq!(zeroed::<[u8; 0]>(3), [[]; 3]);
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
