//! All tensors of a list, without an allocation for the usual lengths.

use crate::{Result, allocation};

/// Number of tensors that are stored inline.
const INLINE: usize = 16;

/// The fetched tensors of a list, in order: an allocation is made from the 17th on.
pub struct Inputs<I> {
    inline: [Option<I>; INLINE],
    spilled: Vec<I>,
}

impl<I> Inputs<I> {
    /// Collects tensors.
    pub(super) fn collect(tensors: impl Iterator<Item = Result<I>>) -> Result<Self> {
        let mut tensors = tensors;
        let mut inline = [const { None }; INLINE];
        for (slot, tensor) in inline.iter_mut().zip(&mut tensors) {
            *slot = Some(tensor?);
        }
        let spilled = allocation::try_collect(tensors)?;
        Ok(Self { inline, spilled })
    }

    /// Returns the tensors.
    pub fn iter(&self) -> impl Iterator<Item = &I> {
        self.inline.iter().flatten().chain(&self.spilled)
    }

    /// Returns the first tensor.
    pub fn first(&self) -> Option<&I> {
        self.iter().next()
    }

    /// Returns the number of tensors.
    pub fn len(&self) -> usize {
        self.inline.iter().flatten().count() + self.spilled.len()
    }

    /// Returns true if there are no tensors.
    pub fn is_empty(&self) -> bool {
        self.first().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn has_tensors_in_order_at_any_length() {
        for len in [0, 1, 16, 17, 40] {
            let inputs = Inputs::collect((0..len).map(Ok)).unwrap();
            assert!(inputs.iter().copied().eq(0..len));
            assert_eq!(inputs.first().copied(), (len > 0).then_some(0));
            assert_eq!((inputs.len(), inputs.is_empty()), (len, len == 0));
        }
    }

    #[test]
    fn returns_first_error() {
        let failing = |index| match index {
            20 => Err(Error::internal("no tensor")),
            index => Ok(index),
        };
        assert!(Inputs::collect((0..20).map(failing)).is_ok());
        assert!(Inputs::collect((0..21).map(failing)).is_err());
        assert!(Inputs::collect((20..22).map(failing)).is_err());
    }
}
