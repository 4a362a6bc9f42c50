//! Folds of windows, such as sums, of all windows of a row at a time.
//!
//! The rows of a window are folded first, for all columns of the input, and then the columns. So a window of 3 by 3
//! elements takes 6 steps, not 9, and both loops are over elements that are adjacent.

use super::Pool;
use crate::compute::ops::nn::window::Windows;
use sp_plugin::allocation;

/// The lengths of the parts of a row that are folded in registers.
const WIDE: usize = 32;
const NARROW: usize = 8;

/// A fold of the elements of a window.
pub(super) trait Fold<T>: Sync {
    /// The fold of no element.
    const EMPTY: T;

    /// Returns the fold of two folds.
    fn combine(x: T, y: T) -> T;

    /// Returns the result of a window from the fold of its elements and their number.
    fn finish(folded: T, count: usize) -> T;
}

/// Adjacent windows of the same number of elements.
struct Run {
    windows: usize,
    /// The first column of the first window.
    column: usize,
    /// The number of columns of each window.
    columns: usize,
}

/// Returns the windows along a dimension as runs.
fn find_runs(windows: &Windows) -> Vec<Run> {
    let sides = allocation::collect((0..windows.output).map(|it| windows.inside(it)));
    let mut first = 0;
    let runs = sides.chunk_by(|x, y| x == y).map(|run| {
        let (window, (left, right)) = (first, run[0]);
        first += run.len();
        Run {
            windows: run.len(),
            column: match left < right {
                true => windows.element(window, left),
                false => 0,
            },
            columns: right - left,
        }
    });
    allocation::collect_unsized(runs)
}

/// The folds of the windows of a pool.
pub(super) struct RowFolds<'a> {
    plan: &'a Pool,
    runs: Vec<Run>,
    /// True if the rows of elements are folded before the columns.
    has_two_steps: bool,
}

/// The memory for the folds of a row of windows.
#[derive(Default)]
pub(super) struct RowBuffer<T> {
    /// The folds of the rows of elements.
    folds: Vec<T>,
    /// The index of each row of elements.
    rows: Vec<usize>,
    /// The index of each element of a window at the first column.
    elements: Vec<usize>,
}

impl<'a> RowFolds<'a> {
    pub(super) fn new(plan: &'a Pool) -> Self {
        // The folds of rows are written and read again, which takes longer for channels that belong to one window each.
        let (stride, size) = (plan.columns.stride, plan.columns.size);
        let is_disjoint = stride >= size && (plan.channels >= NARROW || stride >= 2 * size);
        Self {
            plan,
            runs: find_runs(&plan.columns),
            has_two_steps: !is_disjoint,
        }
    }

    /// Writes the results of a row of windows to the start of `out`. The elements after them have any value.
    #[inline(always)]
    pub(super) fn write<T: Copy, F: Fold<T>>(
        &self,
        x: &[T],
        row_of_windows: usize,
        buffer: &mut RowBuffer<T>,
        out: &mut [T],
    ) {
        let RowBuffer {
            folds,
            rows,
            elements,
        } = buffer;
        self.plan.find_rows(row_of_windows, rows);
        let count = rows.len();
        if !self.has_two_steps || count == 1 {
            return self.write_windows::<T, F>(x, count, (rows, elements), out);
        }
        let row = self.plan.columns.input * self.plan.channels;
        allocation::resize(folds, row + NARROW, F::EMPTY);
        fold::<T, F>(
            x,
            rows,
            row,
            folds,
            #[inline(always)]
            |it| it,
        );
        self.write_windows::<T, F>(folds, count, (&[0], elements), out);
    }

    /// Writes the results of a row of windows that have `count` rows, from the rows of `x` or from their folds.
    #[inline(always)]
    fn write_windows<T: Copy, F: Fold<T>>(
        &self,
        x: &[T],
        count: usize,
        (rows, elements): (&[usize], &mut Vec<usize>),
        out: &mut [T],
    ) {
        let (stride, channels) = (self.plan.columns.stride, self.plan.channels);
        let mut at = 0;
        for run in &self.runs {
            self.find_elements(rows, run, elements);
            let count = count * run.columns;
            // Windows whose elements are adjacent are one window of more channels.
            let windows_at_once = if stride == 1 { run.windows } else { 1 };
            for window in (0..run.windows).step_by(windows_at_once) {
                // Windows of padding only may be behind the end.
                let x = x.get((run.column + window * stride) * channels..);
                let len = windows_at_once * channels;
                fold::<T, F>(
                    x.unwrap_or_default(),
                    elements,
                    len,
                    &mut out[at..],
                    #[inline(always)]
                    |it| F::finish(it, count),
                );
                at += len;
            }
        }
    }

    /// Finds the elements of the windows of a run.
    fn find_elements(&self, rows: &[usize], run: &Run, elements: &mut Vec<usize>) {
        let step = self.plan.columns.dilation * self.plan.channels;
        elements.clear();
        for row in rows {
            allocation::extend(elements, (0..run.columns).map(|it| row + it * step));
        }
    }
}

/// Writes `finish` of the fold of `x[start + i]`, of all `starts`, to `out[i]` for each `i` below `len`. The elements of
/// `out` after them have any value.
#[inline(always)]
fn fold<T: Copy, F: Fold<T>>(
    x: &[T],
    starts: &[usize],
    len: usize,
    out: &mut [T],
    finish: impl Fn(T) -> T,
) {
    let last = starts.last().copied().unwrap_or(0);
    // A part may reach beyond the row, but not beyond the slices.
    let limit = out.len().min(x.len() - last);
    let mut i = 0;
    while i + WIDE <= len {
        fold_part::<T, F, WIDE>(x, starts, i, out, &finish);
        i += WIDE;
    }
    while i < len && i + NARROW <= limit {
        fold_part::<T, F, NARROW>(x, starts, i, out, &finish);
        i += NARROW;
    }
    while i < len {
        fold_part::<T, F, 1>(x, starts, i, out, &finish);
        i += 1;
    }
}

/// Writes `N` elements of [`fold`] from element `i` on.
#[inline(always)]
fn fold_part<T: Copy, F: Fold<T>, const N: usize>(
    x: &[T],
    starts: &[usize],
    i: usize,
    out: &mut [T],
    finish: &impl Fn(T) -> T,
) {
    let mut folds = [F::EMPTY; N];
    for start in starts {
        let x = &x[start + i..][..N];
        for (fold, x) in folds.iter_mut().zip(x) {
            *fold = F::combine(*fold, *x);
        }
    }
    for (out, fold) in out[i..][..N].iter_mut().zip(folds) {
        *out = finish(fold);
    }
}
