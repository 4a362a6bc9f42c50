//! Gradients of the totals of rows that indices select.

use crate::compute::loops::map::update;
use crate::compute::loops::rows::Indices;
use crate::compute::machine::error::Result;
use crate::compute::scalar::arith::Number;
use sp_plugin::allocation;

/// The rows of a table to which the gradients of segments belong: for each index a row and a segment.
#[derive(Debug)]
pub struct Spread<'a> {
    rows: Vec<i64>,
    segments: Indices<'a>,
    /// The number of indices of each index's segment.
    counts: Vec<usize>,
}

impl<'a> Spread<'a> {
    /// Creates the pairs of rows of a table of `rows`, and of segments with a gradient.
    ///
    /// # Errors
    /// Returns an error if an index is not a row, or a segment has no gradient.
    ///
    /// # Panics
    /// Panics if there are fewer segments than indices.
    pub fn new(
        indices: Indices<'_>,
        rows: usize,
        segments: Indices<'a>,
        gradients: usize,
    ) -> Result<Self> {
        segments.check(gradients)?;
        indices.check(rows)?;
        let len = indices.len();
        let ids = (0..len).map(|at| segments.get(at));
        // A gradient without elements may have more segments than the memory has counts.
        let mut ascending = allocation::collect(ids.clone());
        ascending.sort_unstable();
        let below = |id: i64| ascending.partition_point(|it| *it < id);
        let counts = allocation::collect(ids.map(|id| below(id + 1) - below(id)));
        let rows = allocation::collect((0..len).map(|at| indices.get(at)));
        Ok(Self {
            rows,
            segments,
            counts,
        })
    }

    /// Returns the distinct rows in ascending order, and the pairs of positions in them.
    pub fn onto_distinct(self) -> (Vec<i64>, Self) {
        let mut distinct = allocation::copied(&self.rows);
        distinct.sort_unstable();
        distinct.dedup();
        let position = |row: &i64| distinct.partition_point(|it| it < row) as i64;
        let rows = allocation::collect(self.rows.iter().map(position));
        (distinct, Self { rows, ..self })
    }

    /// Adds `part(gradient, count)` of the gradient of each index's segment, which has `count` indices, to its row.
    ///
    /// # Panics
    /// Panics if a slice has another length than its rows of `width` elements.
    pub fn add<T: Number>(
        &self,
        gradient: &[T],
        width: usize,
        part: impl Fn(T, usize) -> T + Sync,
        out: &mut [T],
    ) {
        for (at, row) in self.rows.iter().enumerate() {
            // `new` has found all indices in range.
            let (row, segment) = (*row as usize, self.segments.get(at) as usize);
            let (out, count) = (&mut out[row * width..][..width], self.counts[at]);
            let gradient = &gradient[segment * width..][..width];
            update(out, gradient, |old: T, it| old.plus(part(it, count)));
        }
    }
}
