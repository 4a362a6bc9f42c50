//! Parts of images, resized to one size.

use super::{Interpolation, blend};
use crate::compute::array;
use crate::compute::cast::Cast;
use crate::compute::cost::{self, Cost};
use crate::compute::len;
use crate::compute::parallel::for_each_row_chunk;

/// The parts of images that are copied, and their size.
#[derive(Clone, Copy, Debug)]
pub struct Crop<'a> {
    /// The dims of the images, of which rows and columns are not 0.
    pub images: [usize; 4],
    /// The rows and columns of each result.
    pub size: [usize; 2],
    /// The edges of each part: top, left, bottom, right. 0 is the first element, and 1 the last one.
    pub boxes: &'a [f32],
    /// The image of each part.
    pub indices: &'a [i32],
    /// The computation of elements.
    pub interpolation: Interpolation,
    /// The elements outside of the image.
    pub outside: f32,
}

impl Crop<'_> {
    /// Returns the dims of the result.
    pub fn output(&self) -> [usize; 4] {
        [
            self.indices.len(),
            self.size[0],
            self.size[1],
            self.images[3],
        ]
    }

    /// Returns the position in the image of a row (axis 0) or column (axis 1) of a part, or `None` outside of it.
    #[inline(always)]
    pub(super) fn position(&self, part: usize, axis: usize, index: usize) -> Option<f32> {
        let edges = &self.boxes[part * 4..][..4];
        let (first, last) = (edges[axis], edges[axis + 2]);
        let (limit, count) = ((self.images[axis + 1] - 1) as f32, self.size[axis]);
        let position = match count > 1 {
            true => first * limit + index as f32 * ((last - first) * limit / (count - 1) as f32),
            false => (0.5 * f64::from(first + last) * f64::from(limit)) as f32,
        };
        (position >= 0.0 && position <= limit).then_some(position)
    }

    /// Returns the channels of an element of the image of a part.
    #[inline(always)]
    fn pixel<'x, T>(&self, x: &'x [T], part: usize, [row, column]: [f32; 2]) -> &'x [T] {
        let [_, rows, columns, channels] = self.images;
        // The last row and the last column may be rounded up to the next one.
        let (row, column) = (row as usize, column as usize);
        let line = self.indices[part] as usize * rows + row.min(rows - 1);
        &x[(line * columns + column.min(columns - 1)) * channels..][..channels]
    }

    /// Writes the channels of an element at a position in the image of a part.
    #[inline(always)]
    fn write<T: Cast<f32>>(&self, x: &[T], part: usize, [row, column]: [f32; 2], out: &mut [f32]) {
        let pixel = |row, column| self.pixel(x, part, [row, column]);
        if self.interpolation == Interpolation::Nearest {
            let x = pixel(row.round(), column.round());
            return out.iter_mut().zip(x).for_each(|(out, x)| *out = x.cast());
        }
        let [top, bottom] = [row.floor(), row.ceil()];
        let [left, right] = [column.floor(), column.ceil()];
        let [top_left, top_right] = array::map([left, right], |it| pixel(top, it));
        let [bottom_left, bottom_right] = array::map([left, right], |it| pixel(bottom, it));
        for (i, out) in out.iter_mut().enumerate() {
            let upper = blend(top_left[i].cast(), top_right[i].cast(), column - left);
            let lower = blend(bottom_left[i].cast(), bottom_right[i].cast(), column - left);
            *out = blend(upper, lower, row - top);
        }
    }
}

/// Computes the parts.
///
/// # Panics
/// Panics if an index is not an image, or if a slice has another length than the plan.
pub fn crop_and_resize<T: Cast<f32> + Sync>(plan: &Crop<'_>, x: &[T], out: &mut [f32]) {
    assert_eq!(
        [x.len(), out.len(), plan.boxes.len()],
        [
            len(&plan.images),
            len(&plan.output()),
            plan.indices.len() * 4
        ],
        "a tensor differs in length from the plan"
    );
    let ([rows, columns], channels) = (plan.size, plan.images[3]);
    if out.is_empty() {
        return;
    }
    let width = columns * channels;
    for_each_row_chunk(out, width, cost::Cheap.grain() / 8, |first, out| {
        for (line, out) in out.chunks_exact_mut(width).enumerate() {
            let (part, row) = ((first + line) / rows, (first + line) % rows);
            let row = plan.position(part, 0, row);
            for (column, out) in out.chunks_exact_mut(channels).enumerate() {
                match (row, plan.position(part, 1, column)) {
                    (Some(row), Some(column)) => plan.write(x, part, [row, column], out),
                    _ => out.fill(plan.outside),
                }
            }
        }
    });
}
