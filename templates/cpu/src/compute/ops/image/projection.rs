//! Projective transforms of images.

use super::Interpolation;
use crate::compute::len;
use crate::compute::loops::cast::Cast;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;

/// The elements outside of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FillMode {
    /// A constant.
    Constant,
    /// The nearest element of the image.
    Nearest,
    /// The image, mirrored at its edges.
    Reflect,
    /// The image, repeated.
    Wrap,
}

impl FillMode {
    /// Returns the position in an image of `length` elements for one that may be outside.
    #[inline(always)]
    fn position(self, position: f32, length: usize) -> f32 {
        let last = length as f32 - 1.0;
        let is_inside = !(position < 0.0 || position > last);
        let moved = match self {
            Self::Constant => return position,
            _ if is_inside || length <= 1 => position,
            Self::Nearest => position,
            Self::Reflect => reflected(position, length as f32),
            Self::Wrap => wrapped(position, length as f32),
        };
        // Half an element after the last one would be rounded to an element after it.
        if moved < 0.0 {
            0.0
        } else if moved > last {
            last.max(0.0)
        } else {
            moved
        }
    }
}

/// Returns the position in an image whose mirror images follow each other.
#[inline(always)]
fn reflected(position: f32, length: f32) -> f32 {
    let period = 2.0 * length;
    let rest = position - period * (position / period).trunc();
    match rest < 0.0 {
        true if rest < -length => rest + period,
        true => -rest - 1.0,
        false if rest >= length => period - rest - 1.0,
        false => rest,
    }
}

/// Returns the position in an image that is repeated. Between the last element and the first there is none, so that the
/// number of repetitions is that of the distances between elements, as in TensorFlow.
#[inline(always)]
fn wrapped(position: f32, length: f32) -> f32 {
    let repetitions = (position / (length - 1.0)).trunc();
    match position < 0.0 {
        true => position + length * (1.0 - repetitions),
        false => position - length * repetitions,
    }
}

/// The transform of images.
#[derive(Clone, Copy, Debug)]
pub struct Projection<'a, T> {
    /// The dims of the images.
    pub images: [usize; 4],
    /// The rows and columns of the results.
    pub size: [usize; 2],
    /// Eight coefficients for each image, or for all images.
    pub transforms: &'a [f32],
    /// The computation of elements.
    pub interpolation: Interpolation,
    /// The elements outside of an image.
    pub fill_mode: FillMode,
    /// The element of [`FillMode::Constant`].
    pub fill_value: T,
}

impl<T: Copy> Projection<'_, T> {
    /// Returns the dims of the result.
    pub fn output(&self) -> [usize; 4] {
        [self.images[0], self.size[0], self.size[1], self.images[3]]
    }

    /// Returns the row and the column in the image of an element of the result, or `None` if the transform has none. A position of
    /// [`FillMode::Constant`] may be outside of the image.
    #[inline(always)]
    fn source(&self, image: usize, [row, column]: [usize; 2]) -> Option<[f32; 2]> {
        let start = if self.transforms.len() == 8 {
            0
        } else {
            image * 8
        };
        let it = &self.transforms[start..][..8];
        let (x, y) = (column as f32, row as f32);
        let scale = it[6] * x + it[7] * y + 1.0;
        if scale == 0.0 {
            return None;
        }
        let [_, rows, columns, _] = self.images;
        let x = (it[0] * x + it[1] * y + it[2]) / scale;
        let y = (it[3] * column as f32 + it[4] * y + it[5]) / scale;
        Some([
            self.fill_mode.position(y, rows),
            self.fill_mode.position(x, columns),
        ])
    }

    /// Returns an element of an image, or the constant outside of it.
    #[inline(always)]
    fn pixel(&self, x: &[T], image: usize, [row, column]: [f32; 2], channel: usize) -> T {
        let [_, rows, columns, channels] = self.images;
        match (index(row, rows), index(column, columns)) {
            (Some(row), Some(column)) => {
                x[((image * rows + row) * columns + column) * channels + channel]
            }
            _ => self.fill_value,
        }
    }
}

/// Returns the index of a whole position, or `None` outside of the image. NaN is outside.
#[inline(always)]
fn index(position: f32, length: usize) -> Option<usize> {
    let index = position as usize;
    (position >= 0.0 && index < length).then_some(index)
}

impl<T: Cast<f32>> Projection<'_, T>
where
    f32: Cast<T>,
{
    /// Writes the channels of an element at a position in an image.
    #[inline(always)]
    fn write(&self, x: &[T], image: usize, [row, column]: [f32; 2], out: &mut [T]) {
        if self.interpolation == Interpolation::Nearest {
            for (channel, out) in out.iter_mut().enumerate() {
                *out = self.pixel(x, image, [row.round(), column.round()], channel);
            }
            return;
        }
        let (top, left) = (row.floor(), column.floor());
        let (bottom, right) = (top + 1.0, left + 1.0);
        for (channel, out) in out.iter_mut().enumerate() {
            let pixel =
                |row, column| -> f32 { self.pixel(x, image, [row, column], channel).cast() };
            let between =
                |row| (right - column) * pixel(row, left) + (column - left) * pixel(row, right);
            *out = ((bottom - row) * between(top) + (row - top) * between(bottom)).cast();
        }
    }
}

/// Computes the transformed images.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn project<T: Cast<f32> + Send + Sync>(plan: &Projection<'_, T>, x: &[T], out: &mut [T])
where
    f32: Cast<T>,
{
    let ([batch, _, _, channels], [rows, columns]) = (plan.images, plan.size);
    assert_eq!(
        [x.len(), out.len()],
        [len(&plan.images), len(&plan.output())],
        "a tensor differs in length from the plan"
    );
    assert!(
        [8, batch * 8].contains(&plan.transforms.len()),
        "other transforms"
    );
    if out.is_empty() {
        return;
    }
    let width = columns * channels;
    for_each_row_chunk(out, width, cost::Expensive.grain(), |first, out| {
        for (line, out) in out.chunks_exact_mut(width).enumerate() {
            let (image, row) = ((first + line) / rows, (first + line) % rows);
            for (column, out) in out.chunks_exact_mut(channels).enumerate() {
                match plan.source(image, [row, column]) {
                    Some(position) => plan.write(x, image, position, out),
                    None => out.fill(plan.fill_value),
                }
            }
        }
    });
}
