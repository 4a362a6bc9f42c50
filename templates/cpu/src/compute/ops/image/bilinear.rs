//! Interpolation of whole rows. A row between the columns is computed once for all rows of the result that need it.

use super::blend;
use crate::compute::loops::cast::Cast;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::simd::Isa;
use crate::compute::machine::workspace::Buffer;

/// Two rows or columns of an image, and the weight of the second one.
#[derive(Clone, Copy, Debug)]
pub struct Neighbors {
    /// The first one.
    pub lower: usize,
    /// The second one.
    pub upper: usize,
    /// The weight of the second one.
    pub weight: f32,
}

impl Neighbors {
    /// Returns the rows or columns that are `distance` after these.
    pub fn shifted(self, distance: usize) -> Self {
        Self {
            lower: self.lower + distance,
            upper: self.upper + distance,
            ..self
        }
    }
}

/// Images whose rows are interpolated, and the last rows between columns.
pub struct Rows<'a, T> {
    isa: Isa,
    /// The elements of all images, and the number of those of a row and of a column.
    x: &'a [T],
    width: usize,
    channels: usize,
    /// The last two rows that were interpolated along the columns, each with its number in `x`, or `None` at first.
    stored: [(Option<usize>, Buffer<f32>); 2],
}

impl<'a, T: Cast<f32>> Rows<'a, T> {
    /// Creates the rows of images of `columns` columns, for results of `width` elements in a row.
    pub fn new(isa: Isa, x: &'a [T], [columns, channels]: [usize; 2], width: usize) -> Self {
        Self {
            isa,
            x,
            width: columns * channels,
            channels,
            stored: [(None, Buffer::new(width)), (None, Buffer::new(width))],
        }
    }

    /// Discards the stored rows. Call it before the columns change.
    pub fn clear(&mut self) {
        self.stored.iter_mut().for_each(|(row, _)| *row = None);
    }

    /// Writes the row between two rows.
    pub fn write(&mut self, columns: &[Neighbors], at: Neighbors, out: &mut [f32]) {
        let [lower, upper] = [at.lower, at.upper].map(Some);
        if self.stored[0].0 != lower && (self.stored[1].0 == lower || self.stored[0].0 == upper) {
            self.stored.swap(0, 1);
        }
        self.store(0, columns, at.lower);
        if at.lower != at.upper {
            self.store(1, columns, at.upper);
        }
        let [(_, top), (_, bottom)] = &self.stored;
        let bottom = if at.lower == at.upper { top } else { bottom };
        cost::Cheap.vectorize(
            self.isa,
            #[inline(always)]
            || {
                for ((out, top), bottom) in out.iter_mut().zip(&**top).zip(&**bottom) {
                    *out = blend(*top, *bottom, at.weight);
                }
            },
        );
    }

    /// Writes the nearest elements: those of a row and of the first neighbors.
    pub fn copy(&self, columns: &[Neighbors], row: usize, out: &mut [f32]) {
        let x = &self.x[row * self.width..][..self.width];
        for (out, at) in out.chunks_exact_mut(self.channels).zip(columns) {
            let pixel = &x[at.lower * self.channels..][..self.channels];
            out.iter_mut()
                .zip(pixel)
                .for_each(|(out, x)| *out = x.cast());
        }
    }

    fn store(&mut self, index: usize, columns: &[Neighbors], row: usize) {
        let (stored, out) = &mut self.stored[index];
        if *stored == Some(row) {
            return;
        }
        *stored = Some(row);
        let x = &self.x[row * self.width..][..self.width];
        cost::Cheap.vectorize(
            self.isa,
            #[inline(always)]
            || match self.channels {
                1 => blend_columns::<T, 1>(x, columns, out),
                3 => blend_columns::<T, 3>(x, columns, out),
                4 => blend_columns::<T, 4>(x, columns, out),
                channels => {
                    for (out, at) in out.chunks_exact_mut(channels).zip(columns) {
                        let pixel = |column| &x[column * channels..][..channels];
                        blend_pixels(pixel(at.lower), pixel(at.upper), at.weight, out);
                    }
                }
            },
        );
    }
}

/// Computes the pixels of a row between columns, of a number of channels that the compiler knows.
#[inline(always)]
fn blend_columns<T: Cast<f32>, const C: usize>(x: &[T], columns: &[Neighbors], out: &mut [f32]) {
    let pixels = x.as_chunks::<C>().0;
    for (out, at) in out.as_chunks_mut::<C>().0.iter_mut().zip(columns) {
        blend_pixels(&pixels[at.lower], &pixels[at.upper], at.weight, out);
    }
}

#[inline(always)]
fn blend_pixels<T: Cast<f32>>(left: &[T], right: &[T], weight: f32, out: &mut [f32]) {
    for ((out, left), right) in out.iter_mut().zip(left).zip(right) {
        *out = blend(left.cast(), right.cast(), weight);
    }
}
