//! The elements of a pool's windows.

use super::Pool;
use sp_plugin::allocation;

/// The indices of a window along the planes, rows and columns.
type Window = [usize; 3];

/// The elements of a window that are not padding, in lines along the columns.
#[derive(Default)]
pub(super) struct Elements {
    /// The index, in an image, of the first channel of the first element of each line.
    lines: Vec<usize>,
    /// The number of elements of each line.
    line: usize,
    /// The distance of two elements of a line.
    step: usize,
}

impl Elements {
    /// Calls `visit` with the index, in an image, of the first channel of each element.
    #[inline(always)]
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize)) {
        for first in &self.lines {
            let mut index = *first;
            for _ in 0..self.line {
                visit(index);
                index = index.wrapping_add(self.step);
            }
        }
    }

    /// Returns the number of elements.
    pub(super) fn count(&self) -> usize {
        self.lines.len() * self.line
    }
}

impl Pool {
    /// Finds the elements of a window.
    pub(super) fn find(&self, [z, y, x]: Window, elements: &mut Elements) {
        let (front, back) = self.planes.inside(z);
        let ((top, bottom), (left, right)) = (self.rows.inside(y), self.columns.inside(x));
        elements.lines.clear();
        elements.line = right - left;
        elements.step = self.columns.dilation * self.channels;
        if elements.line == 0 {
            return;
        }
        let column = self.columns.element(x, left);
        for k in front..back {
            let plane = self.planes.element(z, k) * self.rows.input;
            for i in top..bottom {
                let row = (plane + self.rows.element(y, i)) * self.columns.input;
                allocation::push(&mut elements.lines, (row + column) * self.channels);
            }
        }
    }

    /// Finds the rows of elements of a row of windows of the result: the index in the operand of the first element of each.
    pub(super) fn find_rows(&self, row_of_windows: usize, rows: &mut Vec<usize>) {
        let windows = self.planes.output * self.rows.output;
        let [z, y] = self.row_of_windows(row_of_windows % windows);
        let image = row_of_windows / windows * self.planes.input;
        let ((front, back), (top, bottom)) = (self.planes.inside(z), self.rows.inside(y));
        rows.clear();
        for k in front..back {
            let plane = (image + self.planes.element(z, k)) * self.rows.input;
            let row = |i| (plane + self.rows.element(y, i)) * self.columns.input * self.channels;
            allocation::extend(rows, (top..bottom).map(row));
        }
    }

    /// Returns the index, in an image, after the last row of elements of a row of windows; 0 if these have padding only.
    pub(super) fn end_of_row(&self, z: usize, y: usize) -> usize {
        let (planes, rows) = (self.planes.inside(z), self.rows.inside(y));
        if planes.0 >= planes.1 || rows.0 >= rows.1 {
            return 0;
        }
        let plane = self.planes.element(z, planes.1 - 1) * self.rows.input;
        let row = plane + self.rows.element(y, rows.1 - 1);
        (row + 1) * self.columns.input * self.channels
    }

    /// Returns the largest number of elements of a window that are not padding.
    pub(super) fn most_elements(&self) -> usize {
        let sides = self.windows().map(|it| it.size.min(it.input));
        sides.iter().product()
    }

    /// Returns the indices along the planes and rows of a row of windows of an image.
    pub(super) fn row_of_windows(&self, index: usize) -> [usize; 2] {
        [index / self.rows.output, index % self.rows.output]
    }
}
