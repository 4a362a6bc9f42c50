//! Parts of images, resized to one size.

use super::Interpolation;
use super::bilinear::{Neighbors, Rows};
use crate::compute::len;
use crate::compute::loops::cast::Cast;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::machine::simd::Isa;
use sp_plugin::allocation;
use std::ops::Range;

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

    /// Returns the rows or columns around a position. Rounding may put the upper one behind the last, so both are limited.
    fn neighbors(&self, axis: usize, position: f32) -> Neighbors {
        let last = self.images[axis + 1] - 1;
        if self.interpolation == Interpolation::Nearest {
            let nearest = (position.round() as usize).min(last);
            return Neighbors {
                lower: nearest,
                upper: nearest,
                weight: 0.0,
            };
        }
        Neighbors {
            lower: (position.floor() as usize).min(last),
            upper: (position.ceil() as usize).min(last),
            weight: position - position.floor(),
        }
    }
}

/// The columns of the image around those of a part.
struct Columns {
    /// The columns of the part that are inside of the image.
    inside: Range<usize>,
    /// The columns around each of them.
    neighbors: Vec<Neighbors>,
}

impl Columns {
    fn new(plan: &Crop<'_>, part: usize) -> Self {
        let position = |column: &usize| plan.position(part, 1, *column);
        let count = plan.size[1];
        // Positions ascend or descend, so that those inside are a range.
        let first = (0..count).find(|it| position(it).is_some());
        let first = first.unwrap_or(count);
        let neighbors = (first..count).map_while(|it| Some(plan.neighbors(1, position(&it)?)));
        let neighbors = allocation::collect_unsized(neighbors);
        Self {
            inside: first..first + neighbors.len(),
            neighbors,
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
    let (rows, channels, isa) = (plan.size[0], plan.images[3], Isa::current());
    let width = plan.size[1] * channels;
    if out.is_empty() {
        return;
    }
    for_each_row_chunk(out, width, cost::Cheap.grain() / 8, |first, out| {
        let mut image_rows = Rows::new(isa, x, [plan.images[2], channels], width);
        let mut lines = (first..).zip(out.chunks_exact_mut(width)).peekable();
        while let Some((line, _)) = lines.peek() {
            let part = line / rows;
            let columns = Columns::new(plan, part);
            image_rows.clear();
            while let Some((line, out)) = lines.next_if(|(line, _)| line / rows == part) {
                write_row(plan, [part, line % rows], &columns, &mut image_rows, out);
            }
        }
    });
}

/// Writes a row of a part.
fn write_row<T: Cast<f32>>(
    plan: &Crop<'_>,
    [part, row]: [usize; 2],
    columns: &Columns,
    image_rows: &mut Rows<'_, T>,
    out: &mut [f32],
) {
    let Some(position) = plan.position(part, 0, row) else {
        return out.fill(plan.outside);
    };
    let image = plan.indices[part] as usize * plan.images[1];
    let at = plan.neighbors(0, position).shifted(image);
    let Range { start, end } = columns.inside;
    let (inside, after) = out.split_at_mut(end * plan.images[3]);
    let (before, inside) = inside.split_at_mut(start * plan.images[3]);
    before.fill(plan.outside);
    after.fill(plan.outside);
    match plan.interpolation {
        Interpolation::Nearest => image_rows.copy(&columns.neighbors, at.lower, inside),
        Interpolation::Bilinear => image_rows.write(&columns.neighbors, at, inside),
    }
}
