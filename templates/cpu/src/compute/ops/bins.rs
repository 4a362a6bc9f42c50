//! Numbers of occurrences of small integers.

use crate::compute::loops::rows::Indices;
use crate::compute::machine::error::{Error, Result};
use crate::compute::scalar::arith::Number;

/// The bins of each row.
#[derive(Clone, Copy, Debug)]
pub struct Bins {
    /// The number of values of a row.
    pub row_len: usize,
    /// The number of bins.
    pub count: usize,
    /// True if a bin is 1 for any number of occurrences, whatever their weights.
    pub is_binary: bool,
}

impl Bins {
    /// Writes the sum of the weights of the occurrences of each value below the number of bins. Without weights each
    /// occurrence counts 1.
    ///
    /// # Errors
    /// Returns an error if a value is negative.
    ///
    /// # Panics
    /// Panics if `out` has not the bins of each row, or if there are weights, but not one for each value.
    pub fn count<T: Number>(self, values: Indices<'_>, weights: &[T], out: &mut [T]) -> Result<()> {
        if (0..values.len()).any(|at| values.get(at) < 0) {
            return Err(Error::Invalid(
                "values to count must not be negative".into(),
            ));
        }
        out.fill(T::ZERO);
        for at in 0..values.len() {
            let value = values.get(at) as usize;
            if value < self.count {
                let bin = &mut out[at / self.row_len * self.count + value];
                let weight = if weights.is_empty() {
                    T::ONE
                } else {
                    weights[at]
                };
                *bin = if self.is_binary {
                    T::ONE
                } else {
                    bin.plus(weight)
                };
            }
        }
        Ok(())
    }
}
