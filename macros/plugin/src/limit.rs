//! A limit on counts that a host states, before memory is allocated for them.

use std::fmt::Display;

use crate::{Error, Result};

/// No list, text or table of names that a plugin asks for is longer.
const LARGEST: usize = 1 << 27;

/// Returns a count that TensorFlow states of `what`; a negative one, that of an absent list, as 0.
///
/// # Errors
/// Returns an error if it is incredible.
pub fn count<N: TryInto<usize> + Copy + Display>(what: impl Display, stated: N) -> Result<usize> {
    match stated.try_into() {
        Ok(count) if count > LARGEST => Err(Error::internal(format!(
            "TensorFlow states {stated} for {what}, expected at most {LARGEST}"
        ))),
        Ok(count) => Ok(count),
        Err(_) => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_incredible_counts_and_takes_negative_ones_for_none() {
        assert_eq!(count("a list", -1_i32), Ok(0));
        assert_eq!(count("a list", 3_i32), Ok(3));
        let error = count("the bytes of names", usize::MAX).unwrap_err();
        assert!(
            error.message().contains("for the bytes of names"),
            "{error}"
        );
        assert!(count("a list", i32::MAX).is_err());
    }
}
