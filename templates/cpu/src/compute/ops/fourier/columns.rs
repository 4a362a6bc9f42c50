//! Transforms of the columns of matrices.

use super::lanes::{Numbers, Planes};
use super::line::{Kind, Line};
use super::rows::{GRAIN, transform_rows};
use super::{Direction, LANES, Part};
use crate::compute::len;
use crate::compute::loops::strided::permute;
use crate::compute::machine::parallel::{for_each_row_chunk, threads};
use crate::compute::machine::workspace::zeroed;

/// Transforms a tensor of complex numbers along an axis.
///
/// # Panics
/// Panics if there is no such axis, or if the dims are those of another number of elements.
pub fn transform_columns<T: Part>(
    dims: &[usize],
    axis: usize,
    direction: Direction,
    parts: &mut [T],
) {
    let (outer, rest) = dims.split_at(axis);
    let (count, size, inner) = (len(outer), rest[0], len(&rest[1..]));
    let line = Line::new(Kind::Complex(direction), size);
    // The columns of a matrix are transformed in place if there is a matrix for each thread. Both branches give the same
    // bits, so a result does not depend on the number of threads.
    if count >= threads() {
        return for_each_row_chunk(parts, 2 * size * inner, GRAIN, |_, parts| {
            let mut planes = line.planes(LANES.min(inner));
            for matrix in parts.chunks_exact_mut(2 * size * inner) {
                for first in (0..inner).step_by(LANES) {
                    let lanes = LANES.min(inner - first);
                    let columns = Columns {
                        first,
                        inner,
                        lanes,
                    };
                    columns.transform(&line, matrix, &mut planes);
                }
            }
        });
    }
    let numbers = parts.as_chunks_mut::<2>().0;
    let mut transposed: Vec<[T; 2]> = zeroed(numbers.len());
    permute(&[count, size, inner], &[0, 2, 1], numbers, &mut transposed);
    transform_rows(&line, transposed.as_flattened(), numbers.as_flattened_mut());
    transposed.copy_from_slice(numbers);
    permute(&[count, inner, size], &[0, 2, 1], &transposed, numbers);
}

/// Columns of a matrix of complex numbers.
struct Columns {
    first: usize,
    /// The number of columns of the matrix.
    inner: usize,
    lanes: usize,
}

impl Columns {
    fn transform<T: Part>(&self, line: &Line<T>, x: &mut [T], planes: &mut [Planes<T>; 2]) {
        line.isa.vectorize(
            #[inline(always)]
            || match self.lanes {
                LANES => self.read::<T, LANES>(x, &mut planes[0]),
                _ => self.read::<T, 1>(x, &mut planes[0]),
            },
        );
        line.transform(self.lanes, planes);
        let (planes, scale) = (&planes[0], line.scale());
        line.isa.vectorize(
            #[inline(always)]
            || match self.lanes {
                LANES => self.write::<T, LANES>(planes, scale, x),
                _ => self.write::<T, 1>(planes, scale, x),
            },
        );
    }

    #[inline(always)]
    fn read<T: Part, const N: usize>(&self, x: &[T], planes: &mut Planes<T>) {
        for (k, row) in x.chunks_exact(2 * self.inner).enumerate() {
            for lane in (0..self.lanes).step_by(N) {
                let pairs = &row[2 * (self.first + lane)..][..2 * N];
                let numbers = Numbers::<T, N>::from_fn(
                    #[inline(always)]
                    |i| (pairs[2 * i], pairs[2 * i + 1]),
                );
                numbers.store(planes, k * self.lanes + lane);
            }
        }
    }

    #[inline(always)]
    fn write<T: Part, const N: usize>(&self, planes: &Planes<T>, scale: T, x: &mut [T]) {
        for (k, row) in x.chunks_exact_mut(2 * self.inner).enumerate() {
            for lane in (0..self.lanes).step_by(N) {
                let numbers = Numbers::<T, N>::load(planes, k * self.lanes + lane).scaled(scale);
                let pairs = &mut row[2 * (self.first + lane)..][..2 * N];
                for i in 0..N {
                    pairs[2 * i] = numbers.re[i];
                    pairs[2 * i + 1] = numbers.im[i];
                }
            }
        }
    }
}
