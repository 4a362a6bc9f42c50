//! The operand of a reduction: elements as they are folded, or elements of a narrower type that are converted in parts.
//!
//! A reduction reads its operand through a trait object, so that one set of loops serves all types. It converts in
//! parts, since a conversion of the whole operand writes and reads all of it once more.

use crate::compute::loops::precision::Precision;
use crate::compute::machine::workspace::Buffer;

/// Rows of elements that are `stride` apart, from element `begin` on.
#[derive(Clone, Copy)]
pub struct Region {
    pub begin: usize,
    pub rows: usize,
    pub width: usize,
    pub stride: usize,
}

/// A function of the elements from the first of a region to its last, and of the stride of their rows.
pub type Body<'a, T> = dyn FnMut(&[T], usize) + 'a;

/// An operand with elements of `T`. Folds take it as a trait object, so that they are compiled once.
pub trait Source<T>: Sync {
    /// Returns the number of elements.
    fn element_count(&self) -> usize;

    /// Calls `body` once, with the elements of a region.
    ///
    /// # Panics
    /// Panics if the region exceeds the operand.
    fn read(&self, region: Region, body: &mut Body<'_, T>);
}

impl Region {
    /// Returns adjacent elements.
    pub fn of_adjacent(begin: usize, len: usize) -> Self {
        Self {
            begin,
            rows: 1,
            width: len,
            stride: len,
        }
    }

    /// Returns the elements from the first of the region to its last.
    fn slice<'a, T>(&self, x: &'a [T]) -> &'a [T] {
        &x[self.begin..][..(self.rows - 1) * self.stride + self.width]
    }
}

impl<T: Sync> Source<T> for &[T] {
    fn element_count(&self) -> usize {
        self.len()
    }

    fn read(&self, region: Region, body: &mut Body<'_, T>) {
        body(region.slice(self), region.stride);
    }
}

/// Elements that are converted on the thread that reads them.
pub struct Converted<'a, T>(pub &'a [T]);

impl<T: Precision> Source<T::Compute> for Converted<'_, T> {
    fn element_count(&self) -> usize {
        self.0.len()
    }

    fn read(&self, region: Region, body: &mut Body<'_, T::Compute>) {
        let x = region.slice(self.0);
        if region.rows == 1 || region.width == region.stride {
            let mut buffer = Buffer::new(x.len());
            T::widen(x, &mut buffer);
            return body(&buffer, region.stride);
        }
        let mut buffer = Buffer::new(region.rows * region.width);
        let rows = buffer.chunks_exact_mut(region.width);
        for (row, x) in rows.zip(x.chunks(region.stride)) {
            T::widen(&x[..region.width], row);
        }
        body(&buffer, region.width);
    }
}
