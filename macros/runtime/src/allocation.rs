//! Lists whose size depends on an input.
//!
//! Rust's own functions end the process if there is not enough memory. These fail the call with the code
//! `RESOURCE_EXHAUSTED`: they unwind to the guard of the running slot, which returns the error.

use crate::error::Error;

/// Fails the running call: there is not enough memory for a list of this size in bytes.
///
/// No panic hook runs, so nothing is printed.
#[cold]
#[inline(never)]
pub fn out_of_memory(bytes: usize) -> ! {
    let message = format!("there is not enough memory for a buffer of {bytes} bytes");
    std::panic::resume_unwind(Box::new(Error::resource_exhausted(message)))
}

/// Reserves memory for more items, and for a multiple of the present ones if the list has to grow.
#[inline]
pub fn reserve<T>(list: &mut Vec<T>, additional: usize) {
    if list.capacity() - list.len() < additional {
        grow(list, additional);
    }
}

#[cold]
#[inline(never)]
fn grow<T>(list: &mut Vec<T>, additional: usize) {
    if list.try_reserve(additional).is_err() {
        let len = list.len().saturating_add(additional);
        out_of_memory(len.saturating_mul(size_of::<T>()));
    }
}

/// Creates an empty list with memory for `len` items.
#[inline]
pub fn with_capacity<T>(len: usize) -> Vec<T> {
    let mut list = Vec::new();
    if list.try_reserve_exact(len).is_err() {
        out_of_memory(len.saturating_mul(size_of::<T>()));
    }
    list
}

/// Creates a list of `len` items of this value.
#[inline]
pub fn filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut list = with_capacity(len);
    list.resize(len, value);
    list
}

/// Creates a list of the items of a slice.
#[inline]
pub fn copied<T: Clone>(items: &[T]) -> Vec<T> {
    let mut list = with_capacity(items.len());
    list.extend_from_slice(items);
    list
}

/// Creates a list of the items of a slice, so many times.
#[inline]
pub fn repeated<T: Clone>(items: &[T], times: usize) -> Vec<T> {
    let mut list = with_capacity(items.len().saturating_mul(times));
    (0..times).for_each(|_| list.extend_from_slice(items));
    list
}

/// Removes the last items of a list, or adds items of this value, so that it has `len` of them.
#[inline]
pub fn resize<T: Clone>(list: &mut Vec<T>, len: usize, value: T) {
    reserve(list, len.saturating_sub(list.len()));
    list.resize(len, value);
}

/// Adds an item at the end of a list.
#[inline]
pub fn push<T>(list: &mut Vec<T>, item: T) {
    reserve(list, 1);
    list.push(item);
}

/// Adds items at the end of a list.
#[inline]
pub fn extend<T>(
    list: &mut Vec<T>,
    items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
) {
    let items = items.into_iter();
    reserve(list, items.len());
    list.extend(items);
}

/// Creates a list of the items of an iterator.
#[inline]
pub fn collect<T>(items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>) -> Vec<T> {
    let items = items.into_iter();
    let mut list = with_capacity(items.len());
    list.extend(items);
    list
}

/// Creates a list of the items of an iterator whose length is unknown.
#[inline]
pub fn collect_unsized<T>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let items = items.into_iter();
    let mut list = with_capacity(items.size_hint().0);
    items.for_each(|item| push(&mut list, item));
    list
}

/// Creates a list of the values of an iterator's results.
///
/// # Errors
/// Returns the first error among them.
#[inline]
pub fn try_collect<T, E>(items: impl IntoIterator<Item = Result<T, E>>) -> Result<Vec<T>, E> {
    let items = items.into_iter();
    let mut list = with_capacity(items.size_hint().0);
    for item in items {
        push(&mut list, item?);
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use crate::guard::{catch_panic, run_with_default};

    /// A number of `u64` for which no process has memory.
    const LEN: usize = usize::MAX / 32;

    fn code_of<T>(body: impl FnOnce() -> T) -> Code {
        let result = catch_panic("demo", || {
            body();
            Ok(())
        });
        result.unwrap_err().code()
    }

    #[test]
    fn lack_of_memory_is_an_error_of_the_call() {
        let numbers = || (0..LEN).map(|it| it as u64);
        let codes = [
            code_of(|| with_capacity::<u64>(LEN)),
            code_of(|| filled(1_u64, LEN)),
            code_of(|| collect(numbers())),
            code_of(|| extend(&mut vec![1], numbers())),
            code_of(|| reserve(&mut vec![1_u64], LEN)),
            code_of(|| try_collect(numbers().map(Ok::<_, Error>))),
        ];
        assert_eq!(codes, [Code::RESOURCE_EXHAUSTED; 6]);
        assert_eq!(run_with_default("demo", 7, || out_of_memory(1)), 7);
    }

    #[test]
    fn size_that_overflows_is_an_error_of_the_call() {
        let error = catch_panic("demo", || Ok(with_capacity::<u64>(usize::MAX))).unwrap_err();
        assert_eq!(
            error,
            Error::resource_exhausted(format!(
                "there is not enough memory for a buffer of {} bytes",
                usize::MAX
            ))
        );
    }

    #[test]
    fn lists_have_all_items() {
        let mut list = filled(7, 3);
        extend(&mut list, [8, 9]);
        push(&mut list, 10);
        assert_eq!(list, [7, 7, 7, 8, 9, 10]);
        assert_eq!(copied(&list), list);
        assert_eq!(collect(&list).len(), 6);
        assert_eq!(
            collect_unsized(list.iter().filter(|it| **it > 7)),
            [&8, &9, &10]
        );
        assert_eq!(try_collect(["1", "2"].map(str::parse)), Ok(vec![1, 2]));
        assert!(try_collect(["1", "x"].map(str::parse::<u8>)).is_err());
    }
}
