//! Sparse tensors and rows that indices select, compared with loops over all elements.

use super::*;
use crate::compute::rows::Indices;
use crate::compute::segment::Divisible;
use crate::compute::segment::spread::Spread;
use crate::compute::sparse::Points;
use crate::compute::sparse::matrix::Matrix;

/// Returns small numbers, whose sums are exact.
fn numbers(len: usize) -> Vec<f64> {
    (0..len).map(|n| (n * 7 % 11) as f64 - 5.0).collect()
}

proptest! {
    #[test]
    fn gradient_of_mean_is_added_to_selected_rows(
        picks in vec((0..5_usize, 0..4_usize), 0..12), width in 0..4_usize,
    ) {
        let indices: Vec<i64> = picks.iter().map(|it| it.0 as i64).collect();
        let segments: Vec<i32> = picks.iter().map(|it| it.1 as i32).collect();
        let (indices, gradient) = (Indices::Int64(&indices), numbers(4 * width));
        let spread = Spread::new(indices, 5, Indices::Int32(&segments), 4).unwrap();
        let mut expected = vec![0.0; 5 * width];
        for (row, segment) in &picks {
            let count = segments.iter().filter(|it| **it == *segment as i32).count();
            for column in 0..width {
                expected[row * width + column] += gradient[segment * width + column] / count as f64;
            }
        }
        let mut found = vec![0.0; 5 * width];
        spread.add(&gradient, width, Divisible::over_count, &mut found);
        prop_assert_eq!(&found, &expected);
        let (distinct, spread) = spread.onto_distinct();
        prop_assert!(distinct.is_sorted_by(|x, y| x < y));
        let mut found = vec![0.0; distinct.len() * width];
        spread.add(&gradient, width, Divisible::over_count, &mut found);
        let of_row = |row: &i64| expected[*row as usize * width..][..width].to_vec();
        prop_assert_eq!(found, distinct.iter().flat_map(of_row).collect::<Vec<_>>());
    }

    #[test]
    fn dense_tensor_has_values_of_points(dims in vec(1..4_usize, 0..4), picks in vec(any::<usize>(), 0..9), is_one: bool) {
        let positions: Vec<usize> = picks.iter().map(|it| it % len(&dims)).collect();
        let mut indices = Vec::new();
        for position in &positions {
            let mut rest = *position;
            let mut point: Vec<i64> = dims.iter().rev().map(|dim| {
                let index = rest % dim;
                rest /= dim;
                index as i64
            }).collect();
            point.reverse();
            indices.extend(point);
        }
        let shape = [positions.len(), dims.len()];
        let points = Points::new(&shape, Indices::Int64(&indices), &dims).unwrap();
        points.check(false).unwrap();
        prop_assert_eq!(points.check(true).is_ok(), positions.is_sorted_by(|x, y| x < y));
        let values: Vec<u16> = (0..if is_one { 1 } else { positions.len() as u16 }).collect();
        let (mut expected, mut found) = (vec![99; len(&dims)], vec![99; len(&dims)]);
        for (at, position) in positions.iter().enumerate() {
            expected[*position] = values[if is_one { 0 } else { at }];
        }
        points.write(1, &values, &mut found);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn sparse_product_matches_dense_product(
        [rows, inner, columns] in [1..5_usize, 1..5, 0..5], picks in vec((any::<usize>(), any::<usize>()), 0..9),
        is_transposed: bool, is_b_transposed: bool,
    ) {
        let cells: Vec<[usize; 2]> = picks.iter().map(|(row, column)| [row % rows, column % inner]).collect();
        let order = |[row, column]: [usize; 2]| if is_transposed { [column, row] } else { [row, column] };
        let indices: Vec<i64> = cells.iter().flat_map(|it| order(*it)).map(|it| it as i64).collect();
        let a = Matrix { indices: Indices::Int64(&indices), dims: order([rows, inner]), is_transposed };
        let (values, b) = (numbers(cells.len()), numbers(inner * columns));
        let b_dims = if is_b_transposed { [columns, inner] } else { [inner, columns] };
        let checked = a.check(&[cells.len(), 2], &[cells.len()], &b_dims, is_b_transposed);
        prop_assert_eq!((a.rows(), checked.unwrap()), (rows, [inner, columns]));
        let mut expected = vec![0.0; rows * columns];
        for ([row, k], value) in cells.iter().zip(&values) {
            for column in 0..columns {
                let b = if is_b_transposed { b[column * inner + k] } else { b[k * columns + column] };
                expected[row * columns + column] += value * b;
            }
        }
        let mut found = vec![0.0; rows * columns];
        a.multiply(&values, &b, [inner, columns], is_b_transposed, &mut found).unwrap();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn rejects_indices_outside_of_table_matrix_and_tensor() {
    let (zero, bad) = ([0_i64], [3_i64]);
    let spread = |row, segment| Spread::new(Indices::Int64(row), 3, Indices::Int64(segment), 3);
    assert!(spread(&bad, &zero).is_err() && spread(&zero, &bad).is_err());
    for indices in [[0, 3], [2, 0], [-1, 0], [0, -1]] {
        let a = Matrix {
            indices: Indices::Int32(&indices),
            dims: [2, 3],
            is_transposed: false,
        };
        let mut out = [0.0; 4];
        assert!(
            a.multiply(&[1.0], &[1.0; 6], [3, 2], false, &mut out)
                .is_err()
        );
        assert!(a.multiply(&[1.0], &[], [3, 0], false, &mut []).is_ok());
    }
    for index in [-1, 4] {
        let indices = [index];
        let points = Points::new(&[], Indices::Int32(&indices), &[4]).unwrap();
        assert!(points.check(true).is_err() && points.check(false).is_err());
    }
}

#[test]
fn rejects_shapes_of_indices_and_values() {
    let indices = Indices::Int32(&[]);
    assert!(Points::new(&[0, 2], indices, &[4]).is_err());
    assert!(Points::new(&[0, 1, 1], indices, &[4]).is_err());
    let points = Points::new(&[0], indices, &[4]).unwrap();
    assert!(points.check_values(&[]).is_ok() && points.check_values(&[1]).is_err());
    let a = Matrix {
        indices,
        dims: [2, 3],
        is_transposed: false,
    };
    assert!(a.check(&[0, 2], &[0], &[3, 4], false).is_ok());
    for (indices, values, b) in [
        (&[0, 3][..], &[0][..], &[3, 4][..]),
        (&[0, 2], &[1], &[3, 4]),
        (&[0, 2], &[0], &[4, 3]),
        (&[0, 2], &[0], &[3]),
    ] {
        assert!(a.check(indices, values, b, false).is_err());
    }
}

#[test]
fn any_number_of_points_of_a_scalar_takes_no_time() {
    let points = Points::new(&[usize::MAX, 0], Indices::Int32(&[]), &[]).unwrap();
    assert!(points.check(true).is_err());
    points.check(false).unwrap();
    let mut out = [0];
    points.write(1, &[7], &mut out);
    assert_eq!(out, [7]);
}
