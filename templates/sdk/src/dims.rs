//! A shape without an allocation, for up to eight dimensions.

use std::fmt;
use std::ops::Deref;

use sp_runtime::allocation;

/// Number of dimensions that are stored inline.
const INLINE: usize = 8;

/// The dimensions of a tensor, outermost first.
#[derive(Clone)]
pub struct Dims<N = usize> {
    rank: usize,
    inline: [N; INLINE],
    /// All dimensions, if there are more than eight; else empty, which needs no allocation.
    spilled: Box<[N]>,
}

impl<N: Copy + Default> Dims<N> {
    /// Collects `rank` dimensions.
    ///
    /// # Errors
    /// Returns the first error of `dim`.
    #[inline]
    pub(crate) fn try_new<E>(
        rank: usize,
        mut dim: impl FnMut(usize) -> Result<N, E>,
    ) -> Result<Self, E> {
        let mut inline = [N::default(); INLINE];
        if rank > INLINE {
            let spilled = allocation::try_collect((0..rank).map(dim))?.into_boxed_slice();
            return Ok(Self {
                rank,
                inline,
                spilled,
            });
        }
        for (index, slot) in inline.iter_mut().enumerate().take(rank) {
            *slot = dim(index)?;
        }
        let spilled = Box::default();
        Ok(Self {
            rank,
            inline,
            spilled,
        })
    }
}

impl<N: Copy + Default> Dims<N> {
    /// Collects up to eight dimensions; `None` if there are more, or if `dim` returns `None`.
    #[inline(always)]
    pub(crate) fn try_inline(rank: usize, mut dim: impl FnMut(usize) -> Option<N>) -> Option<Self> {
        let mut inline = [N::default(); INLINE];
        for (index, slot) in inline.get_mut(..rank)?.iter_mut().enumerate() {
            *slot = dim(index)?;
        }
        Some(Self {
            rank,
            inline,
            spilled: Box::default(),
        })
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

    #[inline]
    fn deref(&self) -> &[N] {
        self.inline.get(..self.rank).unwrap_or(&self.spilled)
    }
}

impl<N: PartialEq> PartialEq for Dims<N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<N: Eq> Eq for Dims<N> {}

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
