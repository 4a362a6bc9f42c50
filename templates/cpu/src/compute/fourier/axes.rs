//! Transforms along the axes of tensors.

use super::{Plan, Planes};
use crate::compute::cost::{self, Cost};
use crate::compute::parallel::{for_each_row_chunk, threads};
use crate::compute::shape::len;
use crate::compute::strided::permute;
use sp_plugin::Complex128;

/// The direction of a transform. The inverse one is divided by the number of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From values to frequencies.
    Forward,
    /// From frequencies to values.
    Inverse,
}

/// A tensor that is transformed.
pub struct Fourier {
    /// The dims.
    pub dims: Vec<usize>,
    /// The elements.
    pub elements: Vec<Complex128>,
}

impl Fourier {
    /// Transforms along an axis.
    ///
    /// # Panics
    /// Panics if there is no such axis, or if the dims are those of another number of elements.
    pub fn transform(&mut self, axis: usize, direction: Direction) {
        let (outer, rest) = self.dims.split_at(axis);
        let (count, size, inner) = (len(outer), rest[0], len(&rest[1..]));
        if self.elements.is_empty() {
            return;
        }
        // The columns of a block are transformed in place if there is a block for each thread.
        if inner == 1 || count >= threads() {
            return transform_blocks([size, inner], direction, &mut self.elements);
        }
        let mut turned = vec![Complex128::ZERO; self.elements.len()];
        permute(
            &[count, size, inner],
            &[0, 2, 1],
            &self.elements,
            &mut turned,
        );
        transform_blocks([size, 1], direction, &mut turned);
        permute(
            &[count, inner, size],
            &[0, 2, 1],
            &turned,
            &mut self.elements,
        );
    }

    /// Takes the first elements along an axis.
    ///
    /// # Panics
    /// Panics if there is no such axis, or if it has fewer elements.
    pub fn crop(&mut self, axis: usize, size: usize) {
        let (old, inner) = (self.dims[axis], len(&self.dims[axis + 1..]));
        if old == size {
            return;
        }
        assert!(size < old, "{size} of {old} elements");
        let blocks = self.elements.chunks_exact((old * inner).max(1));
        self.elements = blocks.flat_map(|it| &it[..size * inner]).copied().collect();
        self.dims[axis] = size;
    }
}

/// The number of vectors that are transformed at once: those of a register.
const LANES: usize = 8;
/// The elements of more vectors do not fit in the second cache.
const MAX_ELEMENTS: usize = 32 * 1024;

/// Transforms the columns of matrices of these dims.
fn transform_blocks([size, inner]: [usize; 2], direction: Direction, elements: &mut [Complex128]) {
    let plan = Plan::new(size);
    let lanes = (MAX_ELEMENTS / size).clamp(1, LANES);
    let grain = cost::Expensive.grain().max(size * lanes);
    for_each_row_chunk(elements, size * inner, grain, |_, elements| {
        let mut work = [Planes::default(), Planes::default()];
        let (rows, width) = match inner {
            1 => (lanes, 1),
            _ => (1, lanes),
        };
        for block in elements.chunks_mut(size * inner * rows) {
            for first in (0..inner).step_by(width) {
                let rows = block.len() / (size * inner);
                let lanes = rows * width.min(inner - first);
                let steps = if inner == 1 { [1, size] } else { [inner, 1] };
                let lines = Lines {
                    first,
                    steps,
                    lanes,
                };
                lines.transform(&plan, direction, block, &mut work);
            }
        }
    });
}

/// Vectors in a slice.
struct Lines {
    /// The first element of the first one.
    first: usize,
    /// The steps between the elements of a vector, and between the vectors.
    steps: [usize; 2],
    lanes: usize,
}

impl Lines {
    fn transform(
        &self,
        plan: &Plan,
        direction: Direction,
        x: &mut [Complex128],
        [planes, scratch]: &mut [Planes; 2],
    ) {
        let is_inverse = direction == Direction::Inverse;
        self.read(x, plan.len, planes);
        // The inverse transform is the forward one of swapped parts, swapped.
        if is_inverse {
            std::mem::swap(&mut planes.re, &mut planes.im);
        }
        plan.transform(self.lanes, planes, scratch);
        let mut scale = 1.0;
        if is_inverse {
            std::mem::swap(&mut planes.re, &mut planes.im);
            scale /= plan.len as f64;
        }
        self.write(planes, scale, x);
    }

    fn read(&self, x: &[Complex128], len: usize, planes: &mut Planes) {
        planes.resize(len * self.lanes);
        let re = planes.re.chunks_exact_mut(self.lanes);
        let im = planes.im.chunks_exact_mut(self.lanes);
        for (k, (re, im)) in re.zip(im).enumerate() {
            let x = x[self.first + k * self.steps[0]..].iter();
            for ((re, im), x) in re.iter_mut().zip(im).zip(x.step_by(self.steps[1])) {
                (*re, *im) = (x.re, x.im);
            }
        }
    }

    fn write(&self, planes: &Planes, scale: f64, x: &mut [Complex128]) {
        let re = planes.re.chunks_exact(self.lanes);
        let im = planes.im.chunks_exact(self.lanes);
        for (k, (re, im)) in re.zip(im).enumerate() {
            let x = x[self.first + k * self.steps[0]..].iter_mut();
            for ((re, im), x) in re.iter().zip(im).zip(x.step_by(self.steps[1])) {
                *x = Complex128::new(re * scale, im * scale);
            }
        }
    }
}

/// Returns rows of `size` elements of which `half` has the first `size / 2 + 1`; the others are the conjugates that make
/// the inverse transform real.
///
/// # Panics
/// Panics if `half` does not consist of such rows.
pub fn complete_rows(half: &[Complex128], size: usize) -> Vec<Complex128> {
    let given = size / 2 + 1;
    let rows = half.chunks_exact(given);
    assert!(rows.remainder().is_empty(), "not rows of {given} elements");
    let element = |row: &[Complex128], k: usize| match k < given {
        true => row[k],
        false => row[size - k].conjugate(),
    };
    rows.flat_map(|row| (0..size).map(move |k| element(row, k)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dims: &[usize]) -> Fourier {
        let elements = (0..len(dims)).map(|i| Complex128::new((i * 7 % 11) as f64, (i % 3) as f64));
        Fourier {
            dims: dims.to_vec(),
            elements: elements.collect(),
        }
    }

    #[test]
    fn inverse_of_a_transform_is_the_tensor() {
        let expected = tensor(&[2, 3, 5]).elements;
        let mut found = tensor(&[2, 3, 5]);
        (0..3).for_each(|axis| found.transform(axis, Direction::Forward));
        let sum = expected.iter().fold(Complex128::ZERO, |sum, it| sum + *it);
        assert!((found.elements[0] - sum).abs() < 1e-12);
        (0..3).for_each(|axis| found.transform(axis, Direction::Inverse));
        assert_eq!(found.elements.len(), expected.len());
        for (found, expected) in found.elements.iter().zip(expected) {
            assert!((*found - expected).abs() < 1e-13);
        }
    }

    #[test]
    fn transform_along_an_axis_is_that_of_each_line() {
        let mut found = tensor(&[3, 4]);
        found.transform(0, Direction::Forward);
        let x = tensor(&[3, 4]).elements;
        for column in 0..4 {
            let mut line: Vec<Complex128> = (0..3).map(|row| x[row * 4 + column]).collect();
            transform_blocks([3, 1], Direction::Forward, &mut line);
            (0..3).for_each(|row| {
                assert!((found.elements[row * 4 + column] - line[row]).abs() < 1e-13)
            });
        }
    }

    #[test]
    fn transform_does_not_depend_on_the_number_of_lines() {
        let dims = [5, 96, 21];
        let mut found = tensor(&dims);
        found.transform(1, Direction::Inverse);
        let x = tensor(&dims).elements;
        for line in 0..5 * 21 {
            let element = |k: usize| line / 21 * 96 * 21 + k * 21 + line % 21;
            let mut expected: Vec<Complex128> = (0..96).map(|k| x[element(k)]).collect();
            transform_blocks([96, 1], Direction::Inverse, &mut expected);
            let column: Vec<_> = (0..96).map(|k| found.elements[element(k)]).collect();
            assert_eq!(column, expected, "{line}");
            // A block of its own, as if there were fewer threads than blocks.
            let block = line / 21 * 96 * 21;
            let mut alone = x[block..block + 96 * 21].to_vec();
            transform_blocks([96, 21], Direction::Inverse, &mut alone);
            assert_eq!(alone, found.elements[block..block + 96 * 21], "{line}");
        }
    }

    #[test]
    fn real_rows_are_completed_from_their_half() {
        for size in 1..9 {
            let mut row: Vec<Complex128> = (0..size)
                .map(|i| Complex128::from((i * i % 7) as f64))
                .collect();
            transform_blocks([size, 1], Direction::Forward, &mut row);
            let completed = complete_rows(&row[..size / 2 + 1], size);
            assert_eq!(completed.len(), row.len());
            for (found, expected) in completed.iter().zip(&row) {
                assert!((*found - *expected).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn crop_takes_the_first_elements_of_an_axis() {
        let mut found = tensor(&[2, 3, 2]);
        found.crop(1, 2);
        let x = tensor(&[2, 3, 2]).elements;
        assert_eq!(found.elements, [&x[..4], &x[6..10]].concat());
        assert_eq!(found.dims, [2, 2, 2]);
    }
}
