//! Searches, compared with sorting and with loops over pairs.

use super::*;
use crate::compute::oracle::coordinates;
use crate::compute::search::{
    Extreme, Extremes, Order, arg_extreme, count_nonzero, nonzero, top_k, unique, write_indices,
};
use sp_plugin::{Bf16, F16};

/// Returns the indices that a function writes to elements of 4 bytes.
fn written_indices(count: usize, write: impl FnOnce(&mut [MaybeUninit<u8>], usize)) -> Vec<i32> {
    let bytes = written(count * 4, |out| write(out, 4));
    let (indices, _) = bytes.as_chunks::<4>();
    indices.iter().map(|it| i32::from_ne_bytes(*it)).collect()
}

fn run_top_k(x: &[f32], row_len: usize, k: usize) -> (Vec<f32>, Vec<i32>) {
    let rows = x.len() / row_len;
    let mut indices = Vec::new();
    let values = written(rows * k, |values| {
        indices = written_indices(rows * k, |indices, width| {
            top_k([row_len, k], x, values, indices, width);
        });
    });
    (values, indices)
}

/// Returns floats of which many are equal.
fn few_values() -> impl Strategy<Value = f32> {
    let values = [
        f32::NAN,
        f32::NEG_INFINITY,
        -1.0,
        -0.0,
        0.0,
        1.0,
        2.0,
        f32::INFINITY,
    ];
    proptest::sample::select(values.to_vec())
}

proptest! {
    #[test]
    fn top_k_matches_stable_sort(x in vec(few_values(), 1..400), rows in 1..4_usize, k in 0..80_usize) {
        let row_len = x.len() / rows.min(x.len());
        let (x, k) = (&x[..x.len() / row_len * row_len], k.min(row_len));
        let (values, indices) = run_top_k(x, row_len, k);
        for (row, x) in x.chunks(row_len).enumerate() {
            let mut expected: Vec<usize> = (0..row_len).collect();
            // NaN is below minus infinity.
            let is_nan = |it: &usize| x[*it].is_nan();
            let by_order = |a: &usize, b: &usize| {
                is_nan(a).cmp(&is_nan(b)).then(x[*b].partial_cmp(&x[*a]).unwrap_or(std::cmp::Ordering::Equal))
            };
            expected.sort_by(by_order);
            let found: Vec<usize> = indices[row * k..][..k].iter().map(|it| *it as usize).collect();
            prop_assert_eq!(&found, &expected[..k]);
            let of_indices: Vec<f32> = found.iter().map(|it| x[*it]).collect();
            assert_same("", &values[row * k..][..k], &of_indices);
        }
    }

    #[test]
    fn is_above_agrees_with_order(x in few_values(), y in few_values(), bits in any::<[u16; 2]>()) {
        prop_assert_eq!(x.is_above(y), x.order(y).is_gt());
        let [a, b] = bits;
        prop_assert_eq!(F16(a).is_above(F16(b)), F16(a).order(F16(b)).is_gt());
        prop_assert_eq!(Bf16(a).is_above(Bf16(b)), Bf16(a).order(Bf16(b)).is_gt());
        prop_assert_eq!(a.is_above(b), a.order(b).is_gt());
        prop_assert_eq!((a as i8).is_above(b as i8), (a as i8).order(b as i8).is_gt());
    }

    #[test]
    fn extremes_match_loop(x in vec(few_values(), 1..120), axis in 1..5_usize, inner in 1..40_usize) {
        let outer = x.len() / (axis * inner);
        let x = &x[..outer * axis * inner];
        for direction in [Extreme::Largest, Extreme::Smallest] {
            let largest = direction == Extreme::Largest;
            let start = if largest { f32::LOWEST_FINITE } else { f32::HIGHEST_FINITE };
            let expected: Vec<i32> = coordinates(&[outer, inner]).iter().map(|it| {
                let (mut best, mut found) = (start, 0);
                for index in 0..axis {
                    let value = x[(it[0] * axis + index) * inner + it[1]];
                    if (largest && value > best) || (!largest && value < best) {
                        (best, found) = (value, index as i32);
                    }
                }
                found
            }).collect();
            let found = written_indices(outer * inner, |out, width| {
                arg_extreme(direction, start, [axis, inner], x, out, width);
            });
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn long_vectors_have_their_first_extreme(len in 1..5000_usize, picks in [0..5000_usize, 0..5000], best in 0..3_usize) {
        for direction in [Extreme::Largest, Extreme::Smallest] {
            let (sign, start) = match direction {
                Extreme::Largest => (1.0, f32::LOWEST_FINITE),
                Extreme::Smallest => (-1.0, f32::HIGHEST_FINITE),
            };
            // No element, or only the two, are better than `start`, or all but every third one are.
            let others = [start, f32::NAN, if best == 2 { -sign } else { start }];
            let mut x: Vec<f32> = (0..len).map(|at| others[at % 3]).collect();
            let mut expected = if best == 2 && len > 2 { 2 } else { 0 };
            if best > 0 {
                picks.iter().for_each(|at| x[at % len] = sign);
                expected = picks.iter().map(|at| at % len).min().unwrap_or(0);
            }
            let found = written_indices(1, |out, width| {
                arg_extreme(direction, start, [len, 1], &x, out, width);
            });
            prop_assert_eq!(&found, &[expected as i32]);
        }
    }

    #[test]
    fn nonzero_matches_coordinates(dims in dims(), picks in vec(0..2_i16, 8000)) {
        let x = &picks[..len(&dims)];
        let expected: Vec<i64> = match dims.len() {
            0 => return Ok(()),
            _ => coordinates(&dims).iter().zip(x).filter(|(_, x)| **x != 0).flat_map(|(it, _)| it.iter().map(|at| *at as i64).collect::<Vec<_>>()).collect(),
        };
        prop_assert_eq!(count_nonzero(x) * dims.len(), expected.len());
        prop_assert_eq!(written(expected.len(), |out| nonzero(&dims, x, out)), expected);
    }

    #[test]
    fn unique_matches_pairs(x in vec(few_values(), 0..200), outer in 1..3_usize, inner in 1..3_usize) {
        let axis = x.len() / (outer * inner);
        let x = &x[..outer * axis * inner];
        let slice = |index: usize| -> Vec<f32> {
            coordinates(&[outer, inner]).iter().map(|it| x[(it[0] * axis + index) * inner + it[1]]).collect()
        };
        let mut firsts: Vec<usize> = Vec::new();
        let mut expected = Vec::new();
        for index in 0..axis {
            let found = firsts.iter().position(|first| slice(*first) == slice(index));
            expected.push(found.unwrap_or(firsts.len()));
            if found.is_none() {
                firsts.push(index);
            }
        }
        let mut indices = vec![usize::MAX; axis];
        let uniques = unique([outer, axis, inner], x, |slice, id| indices[slice] = id);
        prop_assert_eq!(&uniques.firsts, &firsts);
        prop_assert_eq!(&indices, &expected);
        let count = |id: usize| expected.iter().filter(|it| **it == id).count();
        prop_assert_eq!(&uniques.counts, &(0..firsts.len()).map(count).collect::<Vec<_>>());
    }
}

#[test]
fn indices_have_the_width_of_their_type_and_wrap() {
    let indices = [1, 0x1_8002, usize::MAX];
    let bytes = |width| -> Vec<u8> {
        written(indices.len() * width, |out| {
            write_indices(out, width, indices.into_iter());
        })
    };
    assert_eq!(
        bytes(2),
        [1_i16, -0x7ffe, -1].map(i16::to_ne_bytes).concat()
    );
    assert_eq!(
        bytes(4),
        [1_i32, 0x1_8002, -1].map(i32::to_ne_bytes).concat()
    );
    assert_eq!(
        bytes(8),
        [1_i64, 0x1_8002, -1].map(i64::to_ne_bytes).concat()
    );
}

#[test]
fn many_distinct_elements_are_found_again() {
    let x: Vec<i64> = (0..20_000).map(|it| it % 7919 * 4096).collect();
    let mut indices = vec![0; x.len()];
    let uniques = unique([1, x.len(), 1], &x, |slice, id| indices[slice] = id);
    assert_eq!(uniques.firsts, (0..7919).collect::<Vec<_>>());
    assert!(
        indices
            .iter()
            .enumerate()
            .all(|(slice, id)| *id == slice % 7919)
    );
}

#[test]
fn top_k_of_many_rows_runs_on_all_threads() {
    let x: Vec<f32> = (0..400 * 1000)
        .map(|it: u32| it.wrapping_mul(2_654_435_761) as f32)
        .collect();
    let (values, indices) = run_top_k(&x, 1000, 100);
    for (row, x) in x.chunks(1000).enumerate() {
        let mut sorted = x.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(values[row * 100..][..100], sorted[..100]);
        assert!((0..100).all(|it| x[indices[row * 100 + it] as usize] == sorted[it]));
    }
}
