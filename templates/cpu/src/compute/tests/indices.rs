//! Slices, segments and bins that indices select, and positions in sorted rows, compared with plain loops.

use super::*;
use crate::compute::bins::Bins;
use crate::compute::rows::Indices;
use crate::compute::scatter_nd::{Accumulate, Deduct, Slices};
use crate::compute::search::{is_in_top_k, lower_bound, upper_bound};
use crate::compute::segment::{
    Divisible, count_sorted_segments, fold_sorted, larger, log_add_exp, smaller,
};
use sp_plugin::{Complex64, F16};

/// Returns dims of a tensor, the number of its dims that are indexed, those of the rows of indices, random numbers.
fn slices() -> impl Strategy<Value = (Vec<usize>, usize, Vec<usize>, Vec<u32>)> {
    let dims = (vec(1..4_usize, 1..5), 0..5_usize);
    (dims, vec(1..4_usize, 1..3), vec(any::<u32>(), 3000)).prop_map(
        |((dims, depth), rows, random)| {
            let depth = depth % dims.len() + 1;
            (dims, depth, rows, random)
        },
    )
}

proptest! {
    #[test]
    fn scattered_slices_match_loop((dims, depth, rows, random) in slices()) {
        let (selected, slice) = dims.split_at(depth);
        let (count, width) = (len(&rows), len(slice));
        // An index beyond a dimension selects no slice.
        let indices: Vec<i64> = (0..count * depth).map(|at| i64::from(random[at]) % (selected[at % depth] as i64 + 1)).collect();
        let updates: Vec<i64> = random[..count * width].iter().map(|it| i64::from(*it)).collect();
        let plan = Slices::new(&dims, &[&rows[..], &[depth]].concat(), &[&rows[..], slice].concat()).unwrap();
        let f = |old: i64, new: i64| new.wrapping_sub(old);
        let mut expected: Vec<i64> = (0..len(&dims) as i64).collect();
        let mut found = expected.clone();
        let mut first_bad = None;
        for row in 0..count {
            let index = &indices[row * depth..][..depth];
            if index.iter().zip(selected).any(|(index, dim)| *index as usize >= *dim) {
                first_bad = first_bad.or(Some(row));
                continue;
            }
            let slot = index.iter().zip(selected).fold(0, |slot, (index, dim)| slot * dim + *index as usize);
            for column in 0..width {
                let old = &mut expected[slot * width + column];
                *old = f(*old, updates[row * width + column]);
            }
        }
        plan.scatter(&mut found, Indices::Int64(&indices), &updates, f);
        prop_assert_eq!(found, expected);
        let error = plan.checked(Indices::Int64(&indices)).err().map(|it| it.to_string());
        let expected = first_bad.map(|row| format!("indices[{row}] = {:?} does not index into shape {dims:?}", &indices[row * depth..][..depth]));
        prop_assert_eq!(error, expected);
    }

    #[test]
    fn sorted_segments_match_groups(steps in vec(0..3_i64, 0..20), width in 0..4_usize, numbers in vec(-9..9_i64, 80)) {
        let ids: Vec<i64> = steps.iter().scan(0, |id, step| { *id += step; Some(*id) }).collect();
        let segments = count_sorted_segments(Indices::Int64(&ids)).unwrap();
        prop_assert_eq!(segments as i64, ids.last().map_or(0, |it| it + 1));
        let (x, ids32) = (&numbers[..ids.len() * width], ids.iter().map(|it| *it as i32).collect::<Vec<_>>());
        let row = |at: usize| &x[at * width..][..width];
        let group = |segment: usize, column: usize| -> Vec<i64> {
            let rows = (0..ids.len()).filter(|at| ids[*at] == segment as i64);
            rows.map(|at| x[at * width + column]).collect()
        };
        let of_groups = |empty: i64, f: &dyn Fn(&[i64]) -> i64| -> Vec<i64> {
            let cells = (0..segments).flat_map(|segment| (0..width).map(move |column| group(segment, column)));
            cells.map(|it| if it.is_empty() { empty } else { f(&it) }).collect()
        };
        let mut out = vec![7; segments * width];
        fold_sorted(Indices::Int64(&ids), width, row, &mut out, |x, y| x + y, |total, _| total);
        prop_assert_eq!(&out, &of_groups(7, &|it| it.iter().sum()));
        fold_sorted(Indices::Int32(&ids32), width, row, &mut out, |x, y| x + y, Divisible::over_count);
        prop_assert_eq!(&out, &of_groups(7, &|it| it.iter().sum::<i64>() / it.len() as i64));
        fold_sorted(Indices::Int64(&ids), width, row, &mut out, larger, |total, _| total);
        prop_assert_eq!(&out, &of_groups(7, &|it| it.iter().copied().fold(i64::MIN, i64::max)));
        fold_sorted(Indices::Int64(&ids), width, row, &mut out, smaller, |total, _| total);
        prop_assert_eq!(&out, &of_groups(7, &|it| it.iter().copied().fold(i64::MAX, i64::min)));
    }

    #[test]
    fn bins_match_filters(rows in 1..4_usize, row_len in 1..6_usize, count in 0..6_usize, is_binary: bool, numbers in vec(0..8_i32, 20)) {
        let values = &numbers[..rows * row_len];
        let weights: Vec<i64> = values.iter().map(|it| i64::from(*it) * 3 - 5).collect();
        for weights in [&weights[..], &[]] {
            let mut out = vec![9; rows * count];
            Bins { row_len, count, is_binary }.count(Indices::Int32(values), weights, &mut out).unwrap();
            for (at, bin) in out.iter().enumerate() {
                let of_row = (at / count * row_len..).take(row_len);
                let found = of_row.filter(|it| values[*it] as usize == at % count);
                let found: Vec<i64> = found.map(|it| weights.get(it).copied().unwrap_or(1)).collect();
                let expected = if is_binary { i64::from(!found.is_empty()) } else { found.iter().sum() };
                prop_assert_eq!(*bin, expected);
            }
        }
    }

    #[test]
    fn bounds_match_counts(mut row in vec(-9..9_i32, 0..12), value in -10..10_i32) {
        row.sort_unstable();
        prop_assert_eq!(lower_bound(&row, value), row.iter().filter(|it| **it < value).count());
        prop_assert_eq!(upper_bound(&row, value), row.iter().filter(|it| **it <= value).count());
    }
}

#[test]
fn bounds_of_nan_are_the_ends() {
    let row = [0.0, 1.0];
    let bounds = (lower_bound(&row, f32::NAN), upper_bound(&row, f32::NAN));
    assert_eq!(bounds, (0, 2));
}

#[test]
fn rejects_shapes_that_do_not_fit_together() {
    let plan = |tensor: &[usize], indices: &[usize], updates: &[usize]| {
        Slices::new(tensor, indices, updates).is_ok()
    };
    assert!(plan(&[3, 2], &[4, 1], &[4, 2]));
    assert!(plan(&[3, 2], &[0, 1], &[0, 2]));
    assert!(plan(&[0, 2], &[0, 1], &[0, 2]));
    assert!(!plan(&[0, 2], &[4, 1], &[4, 2]));
    assert!(!plan(&[3, 2], &[4, 1], &[4, 3]));
    assert!(!plan(&[3, 2], &[4, 3], &[4]));
    assert!(!plan(&[3, 2], &[1], &[2]));
    assert!(!plan(&[3, 2], &[], &[2]));
    assert!(!plan(&[3], &[2, 0], &[2, 3]));
}

#[test]
fn policy_states_whether_bad_indices_are_an_error() {
    let plan = |policy| {
        Slices::new(&[3], &[2, 1], &[2])
            .unwrap()
            .with_policy(policy)
    };
    let indices = Indices::Int32(&[5, 1]);
    let mut out = [0.0; 3];
    let ignoring = plan("IGNORE").unwrap().checked(indices).unwrap();
    ignoring.scatter(&mut out, indices, &[1.0, 2.0], f32::accumulate);
    assert_eq!(out, [0.0, 2.0, 0.0]);
    for policy in ["", "DEFAULT", "ERROR"] {
        assert!(plan(policy).unwrap().checked(indices).is_err());
    }
    assert!(plan("ignore").is_err());
}

#[test]
fn sums_of_each_type() {
    assert!(Bool::FALSE.accumulate(Bool::TRUE).get() && !Bool::FALSE.accumulate(Bool::FALSE).get());
    let (x, y) = (Complex64::new(1.0, 2.0), Complex64::new(3.0, 5.0));
    assert_eq!(
        (x.accumulate(y), y.deduct(x)),
        (Complex64::new(4.0, 7.0), Complex64::new(2.0, 3.0))
    );
    assert_eq!(200_u8.accumulate(100), 44);
    assert_eq!(F16::ONE.accumulate(F16::ONE).to_f32(), 2.0);
}

#[test]
fn rejects_segments_that_do_not_ascend_from_0() {
    let count = |ids: &[i64]| count_sorted_segments(Indices::Int64(ids));
    assert_eq!(count(&[]), Ok(0));
    assert!(count(&[0, 2, 1]).is_err());
    assert!(count(&[-1, 0]).is_err());
}

#[test]
fn rejects_negative_values_of_bins() {
    let bins = Bins {
        row_len: 2,
        count: 1,
        is_binary: false,
    };
    assert!(
        bins.count::<f32>(Indices::Int32(&[0, -1]), &[], &mut [0.0])
            .is_err()
    );
}

#[test]
fn quotients_of_counts_round_as_in_tensorflow() {
    assert_eq!(
        (
            (-7).over_count(2),
            200_u8.over_count(256),
            7.0_f32.over_count(2)
        ),
        (-3, 0, 3.5)
    );
    assert_eq!((6.0_f64.over_root(4), 6.over_root(4)), (3.0, 3));
}

#[test]
fn ranks_need_finite_elements() {
    let row = [1.0, 3.0, 3.0, 2.0];
    let ranks = |target: i64| [1, 2, 3, 4].map(|k| is_in_top_k(&row, target, k));
    assert_eq!(ranks(1), [true; 4]);
    assert_eq!(ranks(3), [false, false, true, true]);
    assert_eq!(ranks(0), [false, false, false, true]);
    assert!(!is_in_top_k(&row, 4, 4) && !is_in_top_k(&row, -1, 4) && !is_in_top_k(&row, 1, 0));
    assert!(!is_in_top_k(&[1.0, f32::NAN], 0, 2) && !is_in_top_k(&[f32::INFINITY], 0, 2));
}

#[test]
fn logarithm_of_a_sum_has_no_overflow() {
    let sum = log_add_exp::<f64>;
    assert!((sum(1.0, 2.0) - (1_f64.exp() + 2_f64.exp()).ln()).abs() < 1e-12);
    assert_eq!(sum(1e4, -1e4), 1e4);
    let infinity = f64::INFINITY;
    assert_eq!(
        (
            sum(-infinity, -infinity),
            sum(-infinity, 3.0),
            sum(infinity, 3.0)
        ),
        (-infinity, 3.0, infinity)
    );
    assert!(sum(f64::NAN, 1.0).is_nan() && sum(1.0, f64::NAN).is_nan());
}
