//! Images of another size.

use super::bilinear::{Neighbors, Rows};
use crate::compute::len;
use crate::compute::loops::cast::Cast;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::{for_each_block, for_each_row_chunk};
use crate::compute::machine::simd::Isa;
use crate::compute::scalar::arith::Number;
use crate::compute::scalar::elementary::Elementary;
use sp_plugin::allocation;

/// The attributes of an op that select the elements which coincide in both images.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Alignment {
    /// True if the first and last elements coincide; else the first ones and their distances.
    pub align_corners: bool,
    /// True if elements are squares around their centers.
    pub half_pixel_centers: bool,
}

/// One dimension of an image and of the resized image.
#[derive(Clone, Copy, Debug)]
struct Axis {
    alignment: Alignment,
    original: usize,
    resized: usize,
    scale: f32,
}

impl Axis {
    fn new(alignment: Alignment, original: usize, resized: usize) -> Self {
        let scale = match alignment.align_corners && resized > 1 {
            true => (original - 1) as f32 / (resized - 1) as f32,
            false => original as f32 / resized as f32,
        };
        Self {
            alignment,
            original,
            resized,
            scale,
        }
    }

    /// Returns the elements of the original image around an element of the resized one.
    #[inline(always)]
    fn neighbors(&self, index: usize) -> Neighbors {
        let position = match self.alignment.half_pixel_centers {
            true => (index as f32 + 0.5) * self.scale - 0.5,
            false => index as f32 * self.scale,
        };
        // The conversions of negative positions give 0.
        let upper = (position.ceil() as usize).min(self.original - 1);
        Neighbors {
            lower: (position.floor() as usize).min(upper),
            upper,
            weight: position - position.floor(),
        }
    }

    /// Returns the element of the original image nearest to an element of the resized one.
    #[inline(always)]
    fn nearest(&self, index: usize) -> usize {
        let center = if self.alignment.half_pixel_centers {
            0.5
        } else {
            0.0
        };
        let position = (index as f32 + center) * self.scale;
        let position = match self.alignment.align_corners {
            true => position.round(),
            false => position.floor(),
        };
        (position as usize).min(self.original - 1)
    }
}

/// The dims of images and of the resized images. No dim of an image is 0 but the number of images.
#[derive(Clone, Copy, Debug)]
pub struct Resize {
    batch: usize,
    rows: Axis,
    columns: Axis,
    channels: usize,
}

impl Resize {
    /// Creates the plan for images that are resized to `[rows, columns]`.
    ///
    /// # Panics
    /// Panics if the images have no rows or no columns.
    pub fn new(
        [batch, rows, columns, channels]: [usize; 4],
        size: [usize; 2],
        alignment: Alignment,
    ) -> Self {
        assert!(rows > 0 && columns > 0, "empty images");
        Self {
            batch,
            rows: Axis::new(alignment, rows, size[0]),
            columns: Axis::new(alignment, columns, size[1]),
            channels,
        }
    }

    /// Returns the dims of the resized images.
    pub fn resized(&self) -> [usize; 4] {
        [
            self.batch,
            self.rows.resized,
            self.columns.resized,
            self.channels,
        ]
    }

    /// Returns the dims of the original images.
    pub fn original(&self) -> [usize; 4] {
        [
            self.batch,
            self.rows.original,
            self.columns.original,
            self.channels,
        ]
    }

    fn check<T, U>(&self, original: &[T], resized: &[U]) {
        assert_eq!(
            [original.len(), resized.len()],
            [len(&self.original()), len(&self.resized())],
            "a tensor differs in length from the plan"
        );
    }

    /// Returns the elements of a row of the images, which is in image `line / rows`.
    fn row<'a, T>(&self, x: &'a [T], line: usize, row: usize) -> &'a [T] {
        let width = self.columns.original * self.channels;
        &x[(line / self.rows.resized * self.rows.original + row) * width..][..width]
    }

    /// Calls `write(line, row)` for each row of the resized images.
    fn for_each_row<U: Send>(&self, out: &mut [U], write: impl Fn(usize, &mut [U]) + Sync) {
        let width = self.columns.resized * self.channels;
        if out.is_empty() {
            return;
        }
        for_each_row_chunk(out, width, cost::Cheap.grain() / 8, |first, out| {
            for (line, out) in out.chunks_exact_mut(width).enumerate() {
                write(first + line, out);
            }
        });
    }

    /// Calls `add(image, index, columns, row)` for each row of each resized image; the images are those of a gradient. The
    /// items of the columns are computed once.
    fn for_each_gradient<T: Number, U: Sync, C: Sync>(
        &self,
        resized: &[U],
        dx: &mut [T],
        column: impl Fn(usize) -> C,
        add: impl Fn(&mut [T], usize, &[C], &[U]) + Sync,
    ) {
        dx.fill(T::ZERO);
        let width = self.columns.resized * self.channels;
        let (image, rows) = (dx.len() / self.batch.max(1), self.rows.resized);
        if image == 0 || resized.is_empty() {
            return;
        }
        let columns = collect_columns(self, column);
        for_each_block(dx, image, |index, dx| {
            let rows = resized[index * rows * width..][..rows * width].chunks_exact(width);
            rows.enumerate()
                .for_each(|(row, it)| add(dx, row, &columns, it));
        });
    }
}

/// Returns an item for each column of the resized images.
///
/// # Panics
/// Panics if there is not enough memory.
fn collect_columns<T>(plan: &Resize, item: impl Fn(usize) -> T) -> Vec<T> {
    allocation::collect((0..plan.columns.resized).map(item))
}

/// Computes images by bilinear interpolation.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn bilinear<T: Cast<f32> + Sync>(plan: &Resize, x: &[T], out: &mut [f32]) {
    plan.check(x, out);
    if out.is_empty() {
        return;
    }
    if plan.original() == plan.resized() {
        return plan.for_each_row(out, |line, out| {
            let x = &x[line * out.len()..][..out.len()];
            out.iter_mut().zip(x).for_each(|(out, x)| *out = x.cast());
        });
    }
    let columns = collect_columns(plan, |column| plan.columns.neighbors(column));
    let (isa, width) = (Isa::current(), plan.columns.resized * plan.channels);
    for_each_row_chunk(out, width, cost::Cheap.grain() / 8, |first, out| {
        let mut rows = Rows::new(isa, x, [plan.columns.original, plan.channels], width);
        for (line, out) in (first..).zip(out.chunks_exact_mut(width)) {
            let at = plan.rows.neighbors(line % plan.rows.resized);
            let image = line / plan.rows.resized * plan.rows.original;
            rows.write(&columns, at.shifted(image), out);
        }
    });
}

/// Computes the gradient of [`bilinear`].
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn bilinear_grad<T: Elementary>(plan: &Resize, dy: &[f32], dx: &mut [T]) {
    plan.check(dx, dy);
    let width = plan.columns.original * plan.channels;
    let neighbors = |column| plan.columns.neighbors(column);
    plan.for_each_gradient(dy, dx, neighbors, |dx, row, columns, dy| {
        let y = plan.rows.neighbors(row);
        for (x, dy) in columns.iter().zip(dy.chunks_exact(plan.channels)) {
            for (row, by_row) in [(y.lower, 1.0 - y.weight), (y.upper, y.weight)] {
                for (column, by_column) in [(x.lower, 1.0 - x.weight), (x.upper, x.weight)] {
                    let dx = &mut dx[row * width + column * plan.channels..][..plan.channels];
                    for (dx, dy) in dx.iter_mut().zip(dy) {
                        let share = dy * by_row * by_column;
                        *dx = dx.plus(T::constant(share.into()));
                    }
                }
            }
        }
    });
}

/// Copies the nearest elements.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn nearest<T: Copy + Send + Sync>(plan: &Resize, x: &[T], out: &mut [T]) {
    plan.check(x, out);
    if out.is_empty() {
        return;
    }
    let columns = collect_columns(plan, |column| plan.columns.nearest(column) * plan.channels);
    plan.for_each_row(out, |line, out| {
        let row = plan.row(x, line, plan.rows.nearest(line % plan.rows.resized));
        for (out, column) in out.chunks_exact_mut(plan.channels).zip(&columns) {
            out.copy_from_slice(&row[*column..][..plan.channels]);
        }
    });
}

/// Computes the gradient of [`nearest`].
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn nearest_grad<T: Number>(plan: &Resize, dy: &[T], dx: &mut [T]) {
    plan.check(dx, dy);
    let nearest = |column| plan.columns.nearest(column) * plan.channels;
    plan.for_each_gradient(dy, dx, nearest, |dx, row, columns, dy| {
        let row = plan.rows.nearest(row) * plan.columns.original * plan.channels;
        for (column, dy) in columns.iter().zip(dy.chunks_exact(plan.channels)) {
            let dx = &mut dx[row + column..][..plan.channels];
            dx.iter_mut()
                .zip(dy)
                .for_each(|(dx, dy)| *dx = dx.plus(*dy));
        }
    });
}
