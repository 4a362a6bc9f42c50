//! Reductions: exact for integers, within the error bound of pairwise summation for floats.

use super::*;
use crate::compute::precision::Precision;
use crate::compute::reduce::{Converted, Fold, Mean, Reduction, Sum, reduce, reduce_source};
use crate::compute::{Error, oracle, parallel};
use sp_plugin::Bf16;
use std::sync::Mutex;

fn run<T: Copy + Send + Sync + Default, F: Fold<T>>(
    x: &[T],
    dims: &[usize],
    axes: &[i64],
) -> Vec<T> {
    let plan = Reduction::new(dims, axes).unwrap();
    let mut out = vec![T::default(); plan.len()];
    reduce::<T, F>(&plan, x, &mut out);
    out
}

/// Returns dims, values and axes, some of them negative.
fn case() -> impl Strategy<Value = (Vec<usize>, Vec<f64>, Vec<usize>, Vec<i64>)> {
    (dims(), vec(0..3_u8, 5)).prop_flat_map(|(dims, pick)| {
        let axes: Vec<usize> = (0..dims.len()).filter(|axis| pick[*axis] > 0).collect();
        let sign = |axis: &usize| {
            *axis as i64
                - if pick[*axis] == 2 {
                    dims.len() as i64
                } else {
                    0
                }
        };
        let signed: Vec<i64> = axes.iter().rev().map(sign).collect();
        (Just(dims.clone()), tensor(&dims), Just(axes), Just(signed))
    })
}

/// Returns true if the error of a float sum is within the bound of pairwise summation.
fn is_close(actual: f64, terms: &[f64], scale: f64, epsilon: f64) -> bool {
    let sum: f64 = terms.iter().sum();
    if !sum.is_finite() {
        return actual.is_nan() && sum.is_nan() || actual == sum;
    }
    let magnitude: f64 = terms.iter().map(|x| x.abs()).sum();
    (actual - sum / scale).abs()
        <= 24.0 * epsilon * magnitude / scale + f64::from(f32::MIN_POSITIVE)
}

proptest! {
    #[test]
    fn integers_match_oracle((dims, x, axes, signed) in case()) {
        let x = convert_all(&x, |x| (x * 1e7) as i32);
        let groups = oracle::reduce(&x, &dims, &axes);
        let sums: Vec<i32> = groups.iter().map(|g| g.iter().fold(0, |a: i32, b| a.wrapping_add(*b))).collect();
        let mean = |g: &Vec<i32>| g.iter().map(|x| i64::from(*x)).sum::<i64>() / (g.len() as i64).max(1);
        let means: Vec<i32> = groups.iter().map(|g| mean(g) as i32).collect();
        let wide: Vec<i64> = x.iter().map(|x| i64::from(*x)).collect();
        let wide_means: Vec<i64> = groups.iter().map(mean).collect();
        on_every_isa(|isa| {
            assert_same(isa, &run::<i32, Sum>(&x, &dims, &signed), &sums);
            assert_same(isa, &run::<i32, Mean>(&x, &dims, &signed), &means);
            assert_same(isa, &run::<i64, Mean>(&wide, &dims, &signed), &wide_means);
        });
    }

    #[test]
    fn floats_match_oracle((dims, x, axes, signed) in case()) {
        // Intermediate sums of huge values may overflow in one order and not in another.
        let s = convert_all(&x, |x| if x.is_finite() && x.abs() > 1e30 { 7.0 } else { x as f32 });
        let x = convert_all(&x, |x| if x.is_finite() && x.abs() > 1e30 { 7.0 } else { x });
        let single = oracle::reduce(&convert_all(&s.iter().map(|x| f64::from(*x)).collect::<Vec<_>>(), |x| x), &dims, &axes);
        let double = oracle::reduce(&x, &dims, &axes);
        let singles = f64::from(f32::EPSILON);
        on_every_isa(|isa| {
            let (sums, means) = (run::<f32, Sum>(&s, &dims, &signed), run::<f32, Mean>(&s, &dims, &signed));
            for ((sum, mean), terms) in sums.iter().zip(&means).zip(&single) {
                assert!(is_close((*sum).into(), terms, 1.0, singles), "{isa}: {sum} {terms:?}");
                let count = terms.len() as f64;
                assert!(if terms.is_empty() { mean.is_nan() } else { is_close((*mean).into(), terms, count, singles) }, "{isa}");
            }
            assert_eq!(sums.len(), single.len());
            for (sum, terms) in run::<f64, Sum>(&x, &dims, &signed).iter().zip(&double) {
                assert!(is_close(*sum, terms, 1.0, f64::EPSILON), "{isa}: {sum} {terms:?}");
            }
        });
    }
}

#[test]
fn large_reductions_of_small_integers_are_exact() {
    for (dims, axes) in [
        (vec![300_007], vec![0]),
        (vec![30_001, 10], vec![0]),
        (vec![30_001, 10], vec![1]),
        (vec![7, 50_000], vec![0]),
        (vec![7, 50_000], vec![1]),
        (vec![3, 1000, 100], vec![1]),
        (vec![20, 30, 20, 30], vec![0, 2]),
        (vec![20, 30, 20, 30], vec![1, 3]),
        (vec![4096], vec![0]),
        (vec![5, 4095], vec![1]),
        (vec![3, 4097], vec![1]),
        (vec![3, 2000], vec![0]),
    ] {
        // Sums of small integers do not depend on the order.
        let x: Vec<f32> = (0..len(&dims))
            .map(|i| (i * 7919 % 13) as f32 - 6.0)
            .collect();
        let axes_plain: Vec<usize> = axes.iter().map(|axis| *axis as usize).collect();
        let expected: Vec<f32> = oracle::reduce(&x, &dims, &axes_plain)
            .iter()
            .map(|g| g.iter().sum())
            .collect();
        on_every_isa(|isa| assert_same(isa, &run::<f32, Sum>(&x, &dims, &axes), &expected));
    }
}

#[test]
fn elements_converted_in_parts_have_the_bits_of_elements_converted_at_once() {
    for (dims, axes) in [
        (vec![33], vec![0]),
        (vec![300_007], vec![0]),
        (vec![3, 5001], vec![1]),
        (vec![4001, 9], vec![1]),
        (vec![4001, 9], vec![0]),
        (vec![70, 5003], vec![0]),
        (vec![500, 4, 3], vec![1]),
        (vec![40, 300, 2], vec![1]),
        (vec![3, 100, 1500], vec![1]),
        (vec![20, 30, 20, 3], vec![0, 2]),
        (vec![2, 3], vec![]),
    ] {
        let x: Vec<Bf16> = (0..len(&dims))
            .map(|i| Bf16::from_f32((i * 7919 % 1013) as f32 / 7.0))
            .collect();
        let expected = run::<f32, Sum>(&Bf16::widened(&x), &dims, &axes);
        let plan = Reduction::new(&dims, &axes).unwrap();
        on_every_isa(|isa| {
            let mut sums = vec![0.0; plan.len()];
            reduce_source::<f32, Sum>(&plan, &Converted(&x), &mut sums);
            assert_same(isa, &sums, &expected);
        });
    }
}

/// A task of a computation that uses all threads computes on its own one.
#[test]
fn bits_of_sums_do_not_depend_on_number_of_threads() {
    for (dims, axes) in [
        (vec![10_000, 16, 3], vec![1]),
        (vec![1_000_000, 5], vec![0]),
        (vec![100, 300, 31], vec![1]),
        (vec![3, 20_000, 33], vec![1]),
        (vec![70, 5003], vec![0]),
        (vec![30_011, 9], vec![1]),
    ] {
        let fraction = |i: usize| (i.wrapping_mul(0x9E37_79B9) % 1000) as f32 / 7.0;
        let x: Vec<f32> = (0..len(&dims)).map(fraction).collect();
        let halves: Vec<Bf16> = x.iter().map(|x| Bf16::from_f32(*x)).collect();
        let plan = Reduction::new(&dims, &axes).unwrap();
        let compute = || {
            let mut sums = [(); 2].map(|()| vec![0.0; plan.len()]);
            reduce::<f32, Sum>(&plan, &x, &mut sums[0]);
            reduce_source::<f32, Sum>(&plan, &Converted(&halves), &mut sums[1]);
            sums
        };
        let (all, alone) = (compute(), Mutex::new(None));
        parallel::run(parallel::threads(), |task| {
            if task == 0 {
                *alone.lock().unwrap() = Some(compute());
            }
        });
        assert!(alone.into_inner().unwrap() == Some(all), "{dims:?}");
    }
}

#[test]
fn sums_of_negative_zeros_are_zero() {
    for columns in [2, 16, 17, 64, 65, 5000] {
        let x = vec![-0.0_f32; 2 * columns];
        on_every_isa(|isa| {
            assert_same(isa, &run::<f32, Sum>(&x, &[2, columns], &[1]), &[0.0; 2]);
            let expected = vec![0.0; columns];
            assert_same(isa, &run::<f32, Sum>(&x, &[2, columns], &[0]), &expected);
        });
    }
}

#[test]
fn sum_of_a_million_tenths_is_accurate() {
    on_every_isa(|isa| {
        let sum = run::<f32, Sum>(&vec![0.1; 1 << 20], &[1 << 20], &[0])[0];
        let exact = f64::from(0.1_f32) * f64::from(1 << 20);
        assert!((f64::from(sum) / exact - 1.0).abs() < 1e-6, "{isa}: {sum}");
    });
}

#[test]
fn sum_without_elements_is_zero_and_mean_is_nan() {
    assert_eq!(run::<f32, Sum>(&[], &[0, 2], &[0]), [0.0, 0.0]);
    assert!(
        run::<f32, Mean>(&[], &[0, 2], &[0])
            .iter()
            .all(|x| x.is_nan())
    );
    assert_eq!(run::<i32, Mean>(&[], &[0, 2], &[0]), [0, 0]);
    assert_eq!(run::<f32, Sum>(&[], &[0, 2], &[1]), [0.0; 0]);
    assert_eq!(run::<f32, Mean>(&[1.0, 2.0], &[2], &[]), [1.0, 2.0]);
    assert_eq!(run::<i32, Mean>(&[7, -3, -9, -1], &[4], &[0]), [-1]);
    assert_eq!(run::<i32, Mean>(&[i32::MAX; 4], &[4], &[0]), [i32::MAX]);
    assert_eq!(run::<f32, Sum>(&[3.0], &[], &[]), [3.0]);
}

#[test]
fn rejects_invalid_axes() {
    assert_eq!(
        Reduction::new(&[2, 3], &[0, -2]),
        Err(Error::AxisRepeated(0))
    );
    assert_eq!(
        Reduction::new(&[2, 3], &[2]),
        Err(Error::ReductionAxis { axis: 2, rank: 2 })
    );
    assert_eq!(
        Reduction::new(&[2, 3], &[-3]),
        Err(Error::ReductionAxis { axis: -3, rank: 2 })
    );
    assert_eq!(
        Reduction::new(&[], &[0]),
        Err(Error::ReductionAxis { axis: 0, rank: 0 })
    );
    let plan = Reduction::new(&[2, 3, 4], &[-1, 0]).unwrap();
    assert_eq!(
        [plan.dims(false).to_vec(), plan.dims(true).to_vec()],
        [vec![3], vec![1, 3, 1]]
    );
    assert_eq!([plan.len(), plan.count()], [3, 8]);
}

#[test]
fn dims_beside_a_zero_may_be_of_any_size() {
    let huge = 1 << 40;
    assert_eq!(run::<f32, Sum>(&[], &[0, huge, huge], &[1, 2]), []);
    assert_eq!(run::<i64, Sum>(&[], &[huge, huge, 0], &[0, 1]), []);
    assert_eq!(run::<f32, Mean>(&[], &[0, huge, huge], &[]), []);
    assert_eq!(run::<f32, Sum>(&[], &[huge, huge, 0], &[0, 1, 2]), [0.0]);
    let plan = Reduction::new(&[0, huge, huge], &[1, 2]).unwrap();
    assert_eq!([plan.len(), plan.count()], [0, usize::MAX]);
}
