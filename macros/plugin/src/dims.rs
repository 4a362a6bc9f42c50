//! A shape without an allocation, for up to eight dimensions.

use std::fmt;
use std::ops::Deref;

/// Number of dimensions that are stored inline.
const INLINE: usize = 8;

/// The dimensions of a tensor, outermost first.
#[derive(Clone, PartialEq, Eq)]
pub struct Dims<N = usize>(Storage<N>);

#[derive(Clone, PartialEq, Eq)]
enum Storage<N> {
    Inline(u8, [N; INLINE]),
    Boxed(Box<[N]>),
}

impl<N: Copy + Default> Dims<N> {
    /// Collects `rank` dimensions.
    ///
    /// # Errors
    /// Returns the first error of `dim`.
    pub(crate) fn try_new<E>(
        rank: usize,
        mut dim: impl FnMut(usize) -> Result<N, E>,
    ) -> Result<Self, E> {
        if rank > INLINE {
            return (0..rank)
                .map(dim)
                .collect::<Result<_, E>>()
                .map(|it| Self(Storage::Boxed(it)));
        }
        let mut inline = [N::default(); INLINE];
        for (index, slot) in inline.iter_mut().enumerate().take(rank) {
            *slot = dim(index)?;
        }
        // `rank` is at most 8.
        Ok(Self(Storage::Inline(rank as u8, inline)))
    }
}

impl From<&[usize]> for Dims<i64> {
    fn from(dims: &[usize]) -> Self {
        // A tensor that exists has fewer elements than i64::MAX, so TensorFlow rejects a saturated dimension.
        let dim = |index: usize| Ok(i64::try_from(dims[index]).unwrap_or(i64::MAX));
        let Ok(dims) = Self::try_new::<std::convert::Infallible>(dims.len(), dim);
        dims
    }
}

impl<N> Deref for Dims<N> {
    type Target = [N];

    fn deref(&self) -> &[N] {
        match &self.0 {
            Storage::Inline(rank, dims) => &dims[..usize::from(*rank)],
            Storage::Boxed(dims) => dims,
        }
    }
}

impl<N: fmt::Debug> fmt::Debug for Dims<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_any_rank() {
        for rank in [0, 1, 8, 9, 254] {
            let expected: Vec<usize> = (0..rank).collect();
            let dims = Dims::try_new(rank, Ok::<_, ()>).unwrap();
            assert_eq!(*dims, expected[..]);
            assert_eq!(format!("{dims:?}"), format!("{expected:?}"));
            assert_eq!(Dims::<i64>::from(&expected[..]).len(), rank);
        }
    }
}
