//! Relations, divisions, folds, sums of segments and running totals, compared with the oracle or with plain loops.

use super::*;
use crate::compute::division::{Divide, check_divisors};
use crate::compute::fold::{All, Any, Max, Min, Prod};
use crate::compute::reduce::{Fold, Reduction, reduce};
use crate::compute::rows::Indices;
use crate::compute::segment::{Running, fold_segments, running};
use crate::compute::{Error, arith, oracle, relation};

#[test]
fn relations_of_special_values_match_ieee() {
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    let truths = |it: &[Bool]| it.iter().map(|it| it.get()).collect::<Vec<_>>();
    let values = [1.0, nan, infinity, -infinity];
    let all = |f: fn(f32) -> Bool| truths(&values.map(f));
    assert_eq!(all(relation::is_finite), [true, false, false, false]);
    assert_eq!(all(relation::is_infinite), [false, false, true, true]);
    assert_eq!(all(relation::is_nan), [false, true, false, false]);
    let (equal, not_equal) = (relation::equal(nan, nan), relation::not_equal(nan, nan));
    assert_eq!(truths(&[equal, not_equal]), [false, true]);
    let (yes, no) = (Bool::from_byte(2), Bool::FALSE);
    let found = [
        relation::and(yes, Bool::TRUE),
        relation::or(no, yes),
        relation::not(yes),
    ];
    assert_eq!(found.map(Bool::to_byte), [1, 1, 0]);
}

#[test]
fn divisions_match_tensorflow() {
    let pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2), (i64::MIN, -1)];
    let all = |f: fn(i64, i64) -> i64| pairs.map(|(x, y)| f(x, y));
    assert_eq!(all(Divide::floor_div), [3, -4, -4, 3, i64::MIN]);
    assert_eq!(all(Divide::floor_mod), [1, 1, -1, -1, 0]);
    assert_eq!(all(Divide::truncate_div), [3, -3, -3, 3, i64::MIN]);
    assert_eq!(all(Divide::truncate_mod), [1, -1, 1, -1, 0]);
    assert_eq!(f32::floor_mod(5.5, -7.0), -1.5);
    assert_eq!(f32::floor_mod(7.0, f32::NEG_INFINITY), f32::NEG_INFINITY);
    assert_eq!(
        (f64::floor_div(-7.0, 2.0), f64::truncate_div(-7.0, 2.0)),
        (-4.0, -3.0)
    );
    assert_eq!(check_divisors(&[1_i64, 0]), Err(Error::DivisionByZero));
    assert_eq!(check_divisors(&[0.0_f32]), Ok(()));
}

fn fold<T: Copy + Send + Sync + Default, F: Fold<T>>(
    x: &[T],
    dims: &[usize],
    axes: &[usize],
) -> Vec<T> {
    let axes: Vec<i64> = axes.iter().map(|axis| *axis as i64).collect();
    let plan = Reduction::new(dims, &axes).unwrap();
    let mut out = vec![T::default(); plan.len()];
    reduce::<T, F>(&plan, x, &mut out);
    out
}

proptest! {
    #[test]
    fn folds_match_oracle((dims, x) in dims().prop_flat_map(|dims| (Just(dims.clone()), tensor(&dims)))) {
        let axes: Vec<usize> = (0..dims.len()).step_by(2).collect();
        let groups = oracle::reduce(&x, &dims, &axes);
        let best = |start: f64, is_better: fn(f64, f64) -> bool| -> Vec<f64> {
            let pick = |best: f64, x: &f64| if x.is_nan() || is_better(*x, best) { *x } else { best };
            groups.iter().map(|group| group.iter().fold(start, pick)).collect()
        };
        let truths: Vec<Bool> = x.iter().map(|x| Bool::from(*x > 0.0)).collect();
        let truth_groups = oracle::reduce(&truths, &dims, &axes);
        let all: Vec<Bool> = truth_groups.iter().map(|it| Bool::from(it.iter().all(|it| it.get()))).collect();
        let any: Vec<Bool> = truth_groups.iter().map(|it| Bool::from(it.iter().any(|it| it.get()))).collect();
        let integers = convert_all(&x, |x| x as i64);
        let products = oracle::reduce(&integers, &dims, &axes);
        let products: Vec<i64> = products.iter().map(|it| it.iter().fold(1, |x: i64, y| x.wrapping_mul(*y))).collect();
        on_every_isa(|isa| {
            let has_nan = |out: &[f64]| out.iter().map(|it| it.is_nan()).collect::<Vec<_>>();
            let (max, min) = (fold::<f64, Max>(&x, &dims, &axes), fold::<f64, Min>(&x, &dims, &axes));
            let nan: Vec<bool> = groups.iter().map(|it| it.iter().any(|x| x.is_nan())).collect();
            assert_eq!((has_nan(&max), has_nan(&min)), (nan.clone(), nan.clone()), "{isa}");
            let compare = |found: &[f64], expected: &[f64]| {
                found.iter().zip(expected).zip(&nan).all(|((x, y), nan)| *nan || x == y)
            };
            assert!(compare(&max, &best(f64::NEG_INFINITY, |x, y| x > y)), "{isa}");
            assert!(compare(&min, &best(f64::INFINITY, |x, y| x < y)), "{isa}");
            assert_same(isa, &fold::<i64, Prod>(&integers, &dims, &axes), &products);
            assert_same(isa, &fold::<Bool, All>(&truths, &dims, &axes), &all);
            assert_same(isa, &fold::<Bool, Any>(&truths, &dims, &axes), &any);
        });
    }
}

/// Each element is the extreme of a row once, and NaN once; rows have all lanes and some elements more.
#[test]
fn extremes_are_found_at_every_element() {
    for width in [3, 9, 64, 107] {
        for at in 0..width {
            let row = |value: f32| {
                let other = |i: usize| if i == at { value } else { (i % 7) as f32 - 3.0 };
                (0..width).map(other).collect::<Vec<_>>()
            };
            let integers = |value: f32| row(value).iter().map(|x| *x as i64).collect::<Vec<_>>();
            on_every_isa(|isa| {
                let dims = [1, width];
                assert_same(isa, &fold::<f32, Max>(&row(9.0), &dims, &[1]), &[9.0]);
                assert_same(isa, &fold::<f32, Min>(&row(-9.0), &dims, &[1]), &[-9.0]);
                assert!(fold::<f32, Max>(&row(f32::NAN), &dims, &[1])[0].is_nan());
                assert!(fold::<f32, Min>(&row(f32::NAN), &dims, &[1])[0].is_nan());
                assert_same(isa, &fold::<i64, Max>(&integers(9.0), &dims, &[1]), &[9]);
                assert_same(isa, &fold::<i64, Min>(&integers(-9.0), &dims, &[1]), &[-9]);
            });
        }
    }
}

#[test]
fn long_and_short_rows_of_segments_are_added() {
    for width in [1, 32, 33, 200] {
        let x: Vec<i64> = (0..3 * width as i64).collect();
        let mut out = vec![1; 2 * width];
        let indices = Indices::Int32(&[1, 0, 1]);
        fold_segments(indices, &x, width, 2, &mut out, arith::add).unwrap();
        let (first, second) = out.split_at(width);
        let w = width as i64;
        assert!((0..w).zip(first).all(|(i, sum)| *sum == 1 + w + i));
        assert!((0..w).zip(second).all(|(i, sum)| *sum == 1 + 2 * w + 2 * i));
    }
}

#[test]
fn segments_add_rows_in_order_and_leave_out_negative_indices() {
    let x: Vec<i64> = (0..12).collect();
    let mut out = [0; 9];
    let indices = [2, -1, 0, 2];
    fold_segments(Indices::Int32(&indices), &x, 3, 3, &mut out, arith::add).unwrap();
    assert_eq!(out, [6, 7, 8, 0, 0, 0, 9, 11, 13]);
    let error = fold_segments(
        Indices::Int64(&[0, 3, 0, 0]),
        &x,
        3,
        3,
        &mut out,
        arith::add,
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "segment_ids[1] = 3 is out of range [0, 3)"
    );
}

#[test]
fn running_totals_match_plain_loops() {
    let x = [1_i64, 2, 3, 4, 5, 6];
    let totals = |shape, is_exclusive, is_reverse| {
        let plan = Running {
            shape,
            is_exclusive,
            is_reverse,
        };
        let mut out = [0; 6];
        running(plan, 0, arith::add, &x, &mut out);
        out
    };
    assert_eq!(totals([1, 6, 1], false, false), [1, 3, 6, 10, 15, 21]);
    assert_eq!(totals([1, 6, 1], true, false), [0, 1, 3, 6, 10, 15]);
    assert_eq!(totals([2, 3, 1], false, true), [6, 5, 3, 15, 11, 6]);
    assert_eq!(totals([1, 3, 2], true, true), [8, 10, 5, 6, 0, 0]);
    let shape = [1, 0, usize::MAX];
    let plan = Running {
        shape,
        is_exclusive: false,
        is_reverse: false,
    };
    running(plan, 0, arith::add, &[], &mut []);
}
