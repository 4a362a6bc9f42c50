use super::*;
use crate::compute::len;
use crate::compute::tests::on_every_isa;

/// Transforms complex numbers along all axes by the definition, of which parts are in `f64`.
fn naive(dims: &[usize], direction: Direction, x: &[f64]) -> Vec<f64> {
    let mut x = x.to_vec();
    for axis in 0..dims.len() {
        let (size, inner) = (dims[axis], len(&dims[axis + 1..]));
        let before = x.clone();
        for (index, sum) in x.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let (start, k) = (
                index / (size * inner) * size * inner + index % inner,
                index / inner % size,
            );
            let terms =
                (0..size).map(|i| term(direction, size, i * k, &before[(start + i * inner) * 2..]));
            *sum = terms.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]]);
        }
    }
    x
}

fn term(direction: Direction, size: usize, turns: usize, x: &[f64]) -> [f64; 2] {
    let [mut re, mut im]: [f64; 2] = root(turns, size);
    if direction == Direction::Inverse {
        (re, im) = (re / size as f64, -im / size as f64);
    }
    [x[0] * re - x[1] * im, x[0] * im + x[1] * re]
}

fn numbers<T: Part>(count: usize) -> Vec<T> {
    let number = |i: usize| T::constant((i * 7919 % 23) as f64 - 11.0 + (i * 31 % 17) as f64);
    (0..count).map(number).collect()
}

fn wide<T: Part + Into<f64>>(x: &[T]) -> Vec<f64> {
    x.iter().map(|it| (*it).into()).collect()
}

/// Checks results up to a share of the largest one.
fn assert_close<T: Part + Into<f64>>(found: &[T], expected: &[f64], share: f64, name: &str) {
    assert_eq!(found.len(), expected.len(), "{name}");
    let largest = expected.iter().fold(1.0_f64, |max, it| max.max(it.abs()));
    for (found, expected) in wide(found).iter().zip(expected) {
        assert!(
            (found - expected).abs() <= share * largest,
            "{name}: {found}, not {expected}"
        );
    }
}

/// Transforms all axes after the first one.
fn transform<T: Part>(dims: &[usize], direction: Direction, x: &[T]) -> Vec<T> {
    let mut out = vec![T::constant(9.0); x.len()];
    complex(dims, dims.len() - 1, direction, x, &mut out);
    out
}

/// Returns the expected results of [`transform`].
fn expected<T: Part + Into<f64>>(dims: &[usize], direction: Direction, x: &[T]) -> Vec<f64> {
    let batches = x.chunks(2 * len(&dims[1..]));
    batches
        .flat_map(|it| naive(&dims[1..], direction, &wide(it)))
        .collect()
}

fn assert_complex<T: Part + Into<f64>>(dims: &[usize], share: f64) {
    let x = numbers::<T>(2 * len(dims));
    for direction in [Direction::Forward, Direction::Inverse] {
        let name = format!("{direction:?} of {dims:?}");
        let expected = expected(dims, direction, &x);
        assert_close(&transform(dims, direction, &x), &expected, share, &name);
    }
}

/// Checks both transforms of real numbers, of which the tensor has some more than are transformed.
fn assert_real<T: Part + Into<f64>>(dims: &[usize], more: usize, share: f64) {
    let (rank, last) = (dims.len() - 1, dims.len() - 1);
    let given: Vec<_> = dims[..1]
        .iter()
        .copied()
        .chain(dims[1..].iter().map(|it| it + more))
        .collect();
    let x = numbers::<T>(len(&given));
    let real = cropped(&given, dims, &x, 1);
    let pairs: Vec<T> = real.iter().flat_map(|it| [*it, T::ZERO]).collect();
    let half = [&dims[..last], &[dims[last] / 2 + 1]].concat();
    let expected = cropped_wide(dims, &half, &expected(dims, Direction::Forward, &pairs));
    let mut found = vec![T::constant(9.0); expected.len()];
    from_real(&given, &dims[1..], &x, &mut found);
    assert_close(
        &found,
        &expected,
        share,
        &format!("real numbers of {dims:?}"),
    );
    let mut inverse = vec![T::constant(9.0); real.len()];
    to_real(&half, &dims[1..], &found, &mut inverse);
    assert_close(
        &inverse,
        &wide(&real),
        share * rank as f64 * 2.0,
        &format!("inverse of {dims:?}"),
    );
}

/// Returns the first elements of all axes, of `parts` parts.
fn cropped<T: Copy>(dims: &[usize], size: &[usize], x: &[T], parts: usize) -> Vec<T> {
    let is_inside = |index: usize| {
        let mut rest = index / parts;
        (0..dims.len()).rev().all(|axis| {
            let at = rest % dims[axis];
            rest /= dims[axis];
            at < size[axis]
        })
    };
    (0..x.len())
        .filter(|it| is_inside(*it))
        .map(|it| x[it])
        .collect()
}

fn cropped_wide(dims: &[usize], size: &[usize], x: &[f64]) -> Vec<f64> {
    cropped(dims, size, x, 2)
}

#[test]
fn transforms_of_each_length_match_the_definition() {
    let lens = (1..=70).chain([96, 105, 121, 128, 211, 240, 256, 257]);
    for len in lens {
        assert_complex::<f64>(&[2, len], 1e-13);
        assert_complex::<f32>(&[2, len], 5e-6);
        assert_real::<f64>(&[2, len], 0, 1e-13);
        assert_real::<f32>(&[2, len], 0, 5e-6);
    }
}

#[test]
fn transforms_of_several_rows_and_axes_match_the_definition() {
    for rows in [1, 7, 8, 9, 17, 40] {
        for len in [1, 2, 3, 8, 10, 30, 37, 64] {
            assert_complex::<f32>(&[rows, len], 5e-6);
            assert_real::<f32>(&[rows, len], 3, 5e-6);
            assert_real::<f64>(&[rows, len], 0, 1e-13);
        }
    }
    for dims in [&[1, 5, 6], &[3, 12, 21], &[9, 1, 1], &[2, 16, 8]] {
        assert_complex::<f32>(dims, 5e-6);
        assert_real::<f32>(dims, 1, 5e-6);
    }
    assert_complex::<f64>(&[2, 3, 4, 5], 1e-13);
    assert_real::<f64>(&[2, 3, 4, 5], 2, 1e-13);
}

/// Bits do not depend on the division of work if they depend neither on the rows beside, nor on the instruction set.
#[test]
fn rows_have_the_same_bits_alone_and_on_every_isa() {
    for len in [1, 2, 3, 8, 15, 64, 74, 96, 128, 143, 250, 256] {
        let x = numbers::<f32>(19 * 2 * len);
        let alone = |x| transform(&[1, len], Direction::Forward, x);
        let expected: Vec<_> = x.chunks(2 * len).flat_map(alone).collect();
        let halves = |x: &[f32]| {
            let mut out = vec![9.0; x.len() / (2 * len) * 2 * (len + 1)];
            from_real(&[x.len() / (2 * len), 2 * len], &[2 * len], x, &mut out);
            out
        };
        let expected_halves: Vec<_> = x.chunks(2 * len).flat_map(halves).collect();
        on_every_isa(|isa| {
            let found = transform(&[19, len], Direction::Forward, &x);
            assert_eq!(found, expected, "{isa}: {len}");
            assert_eq!(halves(&x), expected_halves, "{isa}: {len}");
        });
    }
}

#[test]
fn inverse_ignores_imaginary_parts_of_real_frequencies() {
    for len in [6, 7] {
        let mut x = numbers::<f32>(2 * (len / 2 + 1));
        let inverse = |x: &[f32]| {
            let mut out = vec![9.0; len];
            to_real(&[len / 2 + 1], &[len], x, &mut out);
            out
        };
        let expected = inverse(&x);
        x[1] = f32::NAN;
        if len == 6 {
            x[7] = f32::NAN;
        }
        assert_eq!(inverse(&x), expected, "{len}");
    }
}

#[test]
fn roots_are_those_of_unity() {
    for len in 1..50_usize {
        for k in 0..len {
            let angle = -2.0 * PI * k as f64 / len as f64;
            let [re, im]: [f64; 2] = root(k, len);
            assert!((re - angle.cos()).abs() < 1e-14, "{k} of {len}");
            assert!((im - angle.sin()).abs() < 1e-14, "{k} of {len}");
        }
    }
    assert_eq!(root::<f64>(1, 4), [0.0, -1.0]);
    assert_eq!(root::<f64>(3, 6), [-1.0, 0.0]);
}

#[test]
fn columns_have_the_same_bits_alone_and_with_other_matrices() {
    let dims = [64, 96, 21];
    let size = 2 * 96 * 21;
    let mut all = numbers::<f32>(64 * size);
    let alone: Vec<f32> = all
        .chunks_exact(size)
        .flat_map(|matrix| {
            let mut matrix = matrix.to_vec();
            columns::transform_columns(&[1, 96, 21], 1, Direction::Inverse, &mut matrix);
            matrix
        })
        .collect();
    columns::transform_columns(&dims, 1, Direction::Inverse, &mut all);
    assert!(
        all.iter()
            .zip(&alone)
            .all(|(x, y)| x.to_bits() == y.to_bits())
    );
}
