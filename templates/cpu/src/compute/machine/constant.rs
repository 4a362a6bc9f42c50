//! Constants of functions, by a number that is known at run time.

/// Calls a function with a number as a constant: `by_constant!(len, N in 1 2 3 => f::<N>(..))`.
///
/// # Panics
/// Panics if the number is not in the list.
macro_rules! by_constant {
    ($number:expr, $n:ident in $($constant:literal)* => $call:expr) => {
        match $number {
            $($constant => {
                const $n: usize = $constant;
                $call
            })*
            number => panic!("{number} is not one of {:?}", [$($constant),*]),
        }
    };
}
pub(crate) use by_constant;
