//! Counts and indexes of the C API: a limit for those that the host states, checked before memory is allocated for them, and
//! the conversion of ours.

use std::ffi::c_int;
use std::fmt::Display;

use crate::{Error, Result};

/// Limit for the length of any list, text or table of names.
const MAX_COUNT: usize = 1 << 27;

/// Checks a count that TensorFlow states for `subject`. A negative one means an absent list and becomes 0.
///
/// # Errors
/// Returns an error if the count is above the limit.
pub fn check_count<N: TryInto<usize> + Copy + Display>(
    subject: impl Display,
    stated: N,
) -> Result<usize> {
    match stated.try_into() {
        Ok(count) if count > MAX_COUNT => fail!(
            internal,
            "TensorFlow states {stated} for {subject}, expected at most {MAX_COUNT}"
        ),
        Ok(count) => Ok(count),
        Err(_) => Ok(0),
    }
}

/// Converts an index or a count for C.
#[inline]
pub fn c_index(value: usize) -> Result<c_int> {
    c_int::try_from(value).map_err(|_| too_large(value))
}

#[cold]
fn too_large(value: usize) -> Error {
    Error::invalid_argument(format!("{value} is too large an index"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_counts_above_limit_and_converts_negative_ones_to_0() {
        assert_eq!(check_count("a list", -1_i32), Ok(0));
        assert_eq!(check_count("a list", 3_i32), Ok(3));
        let error = check_count("the bytes of names", usize::MAX).unwrap_err();
        assert!(
            error.message().contains("for the bytes of names"),
            "{error}"
        );
        assert!(check_count("a list", i32::MAX).is_err());
    }
}
