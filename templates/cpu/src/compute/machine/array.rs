//! Arrays of a few elements in the loops of kernels.
//!
//! The functions of the standard library may stay calls for each element. Their instances are in one codegen unit, out of
//! reach of the loops in others. These functions are always inlined, so that kernels are fast in a build of any profile.

use std::mem::MaybeUninit;

/// Returns the array of `f(0)`, `f(1)`, ...
#[inline(always)]
pub fn from_fn<T: Copy, const N: usize>(mut f: impl FnMut(usize) -> T) -> [T; N] {
    let mut array = [const { MaybeUninit::uninit() }; N];
    let mut index = 0;
    // An iterator takes the compiler three times as long.
    while index < N {
        array[index].write(f(index));
        index += 1;
    }
    // SAFETY: the loop writes each element, and the array of them has the layout of `[T; N]`. Elements that are `Copy`
    // need no drop if `f` panics.
    unsafe { std::mem::transmute_copy(&array) }
}

/// Returns the array of `f` of each element.
#[inline(always)]
pub fn map<T: Copy, U: Copy, const N: usize>(x: [T; N], mut f: impl FnMut(T) -> U) -> [U; N] {
    from_fn(
        #[inline(always)]
        |i| f(x[i]),
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn holds_function_of_each_index_and_element() {
        assert_eq!(super::from_fn(|i| i * i), [0, 1, 4]);
        assert_eq!(super::map([1, 2, 3], |x| x + 1), [2, 3, 4]);
        assert_eq!(super::from_fn(|i| i), [0; 0]);
    }
}
