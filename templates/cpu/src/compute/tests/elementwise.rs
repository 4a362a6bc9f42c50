//! Elementwise kernels: the bits of the scalar function, for all shapes.

use super::*;
use crate::compute::arith::{self, Integer, Number};
use crate::compute::map::{map1, map1_with_cost, map2, map2_with_cost, update};
use crate::compute::nn::activation::maximum;
use crate::compute::nn::relu::{relu, relu_grad};
use crate::compute::{Broadcast, Error, cost, oracle};

type Operand<'a, T> = (&'a [T], &'a [usize]);

fn binary<T: SameBits + Number>(
    ((x, x_dims), (y, y_dims)): (Operand<'_, T>, Operand<'_, T>),
    f: impl Fn(T, T) -> T + Sync,
) {
    let plan = Broadcast::new([x_dims, y_dims]).unwrap();
    let expected = oracle::map2(plan.dims(), (x, x_dims), (y, y_dims), &f);
    on_every_isa(|isa| {
        let mut out = vec![T::default(); plan.len()];
        map2(&plan, x, y, &mut out, &f);
        assert_same(isa, &out, &expected);
        out.fill(T::default());
        map2_with_cost(cost::Expensive, &plan, x, y, &mut out, &f);
        assert_same(isa, &out, &expected);
    });
}

fn unary<T: SameBits + Sync + Send + Default>(x: &[T], f: impl Fn(T) -> T + Sync) {
    let expected: Vec<T> = x.iter().map(|x| f(*x)).collect();
    on_every_isa(|isa| {
        let mut out = vec![T::default(); x.len()];
        map1(x, &mut out, &f);
        assert_same(isa, &out, &expected);
        out.fill(T::default());
        map1_with_cost(cost::Expensive, x, &mut out, &f);
        assert_same(isa, &out, &expected);
    });
}

fn operands() -> impl Strategy<Value = (Vec<usize>, Vec<f64>, Vec<usize>, Vec<f64>)> {
    broadcast_dims()
        .prop_flat_map(|(x, y)| (Just(x.clone()), tensor(&x), Just(y.clone()), tensor(&y)))
}

/// Calls a check with each function. Each has a type of its own, so that it is inlined into vector code.
macro_rules! each {
    ($check:ident($x:expr): $($f:expr),*) => {
        $($check($x, $f);)*
    };
}

proptest! {
    #[test]
    fn functions_of_two_floats_match_oracle((x_dims, x, y_dims, y) in operands()) {
        let (s, t) = (convert_all(&x, |x| x as f32), convert_all(&y, |y| y as f32));
        let (s, t) = ((&s[..], &x_dims[..]), (&t[..], &y_dims[..]));
        each!(binary((s, t)): arith::add, arith::sub, arith::mul, arith::real_div, arith::div_no_nan, arith::pow, relu_grad);
        let (s, t) = ((&x[..], &x_dims[..]), (&y[..], &y_dims[..]));
        each!(binary((s, t)): arith::add, arith::sub, arith::mul, arith::real_div, arith::div_no_nan, arith::pow, relu_grad);
    }

    #[test]
    fn functions_of_two_integers_match_oracle((x_dims, x, y_dims, y) in operands()) {
        let (s, t) = (convert_all(&x, |x| (x * 1e7) as i32), convert_all(&y, |y| (y * 1e7) as i32));
        each!(binary(((&s[..], &x_dims[..]), (&t[..], &y_dims[..]))): arith::add, arith::sub, arith::mul);
        let (s, t) = (convert_all(&x, |x| (x * 1e17) as i64), convert_all(&y, |y| (y * 1e17) as i64));
        each!(binary(((&s[..], &x_dims[..]), (&t[..], &y_dims[..]))): arith::add, arith::sub, arith::mul);
        let (s, t) = (convert_all(&x, |x| (x * 10.0) as i64 as u8), convert_all(&y, |y| (y * 10.0) as i64 as u8));
        each!(binary(((&s[..], &x_dims[..]), (&t[..], &y_dims[..]))): arith::add, arith::sub, arith::mul, maximum, Integer::and, Integer::or, Integer::xor);
        let (s, t) = (convert_all(&x, |x| (x * 10.0) as i64 as i8), convert_all(&y, |y| (y * 10.0) as i64 as i8));
        each!(binary(((&s[..], &x_dims[..]), (&t[..], &y_dims[..]))): arith::add, arith::sub, arith::mul, maximum, Integer::and, Integer::or, Integer::xor);
    }

    #[test]
    fn arithmetic_of_8_bits_wraps(x in any::<[u8; 2]>()) {
        let [a, b] = x;
        let (s, t) = (a as i8, b as i8);
        prop_assert_eq!([arith::add(a, b), arith::sub(a, b), arith::mul(a, b)], [a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b)]);
        prop_assert_eq!([arith::add(s, t), arith::sub(s, t), arith::mul(s, t)], [s.wrapping_add(t), s.wrapping_sub(t), s.wrapping_mul(t)]);
    }

    #[test]
    fn integer_power_matches_oracle((x_dims, x, y_dims, y) in operands()) {
        let (x, y) = (convert_all(&x, |x| x as i32), convert_all(&y, |y| (y as i32).rem_euclid(40)));
        let plan = Broadcast::new([&x_dims, &y_dims]).unwrap();
        let expected = oracle::map2(plan.dims(), (&x, &x_dims), (&y, &y_dims), |x, y| x.wrapping_pow(y.unsigned_abs()));
        on_every_isa(|isa| {
            let mut out = vec![0; plan.len()];
            map2(&plan, &x, &y, &mut out, arith::pow_int);
            assert_same(isa, &out, &expected);
        });
    }

    #[test]
    fn functions_of_one_float_match_oracle(x in vec(any_float(), 0..300)) {
        each!(unary(&convert_all(&x, |x| x as f32)): arith::sqrt, arith::square, arith::neg, relu);
        each!(unary(&x): arith::sqrt, arith::square, arith::neg, relu);
        each!(unary(&convert_all(&x, |x| (x * 1e8) as i32)): arith::neg, arith::square);
        each!(unary(&convert_all(&x, |x| (x * 1e17) as i64)): arith::neg, arith::square);
    }
}

#[test]
#[ignore = "takes minutes without optimization; tests/nightly runs it"]
fn large_tensors_match_small_ones() {
    let ramp = |len: usize| {
        (0..len)
            .map(|i| i as f32 * 0.37 - 1000.0)
            .collect::<Vec<_>>()
    };
    for (x, y) in [
        (vec![300_001], vec![300_001]),
        (vec![700, 501], vec![501]),
        (vec![700, 501], vec![700, 1]),
        (vec![700, 501], vec![]),
        (vec![1, 501], vec![700, 1]),
        (vec![50, 1, 70, 80], vec![90, 1, 1]),
        // An operand of a few elements is repeated in memory.
        (vec![100_000, 3], vec![3]),
        (vec![3], vec![4999, 3]),
        (vec![1024, 4], vec![4]),
        (vec![701, 31], vec![31]),
        (vec![701, 33], vec![33]),
    ] {
        binary(((&ramp(len(&x)), &x), (&ramp(len(&y)), &y)), arith::sub);
    }
    unary(&ramp(300_001), arith::square);
}

#[test]
fn special_values_match_tensorflow() {
    assert_eq!(arith::div_no_nan(f32::NAN, 0.0), 0.0);
    assert_eq!(arith::div_no_nan(f32::INFINITY, -0.0), 0.0);
    assert!(arith::div_no_nan(0.0, f32::NAN).is_nan());
    assert_eq!(arith::real_div(-1.0_f32, 0.0), f32::NEG_INFINITY);
    assert!(arith::sqrt(-1.0_f32).is_nan());
    assert!(relu(f32::NAN).is_nan());
    assert!(relu(-0.0_f32).is_same(0.0));
    let grad = |g: f32, x: f32| relu_grad(g, x);
    assert!(grad(f32::NAN, -1.0).is_nan() && grad(f32::INFINITY, -1.0).is_nan());
    assert!(
        grad(-2.0, -1.0).is_same(-0.0)
            && grad(3.0, f32::NAN).is_same(0.0)
            && grad(-4.0, 5.0) == -4.0
    );
    assert_eq!(arith::neg(i32::MIN), i32::MIN);
    assert_eq!(
        [
            arith::pow_int(3, 40),
            arith::pow_int(-2, 31),
            arith::pow_int(0, 0)
        ],
        [689_956_897, i32::MIN, 1]
    );
    assert_eq!(arith::check_exponents(&[1, 0]), Ok(()));
    assert_eq!(arith::check_exponents(&[1, -1]), Err(Error::NegativePower));
}

#[test]
fn pow_matches_special_cases_of_c_library() {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        2.0,
        -2.0,
        0.5,
        -0.5,
        3.0,
        -3.0,
    ];
    for (x, y) in special
        .iter()
        .flat_map(|x| special.iter().map(move |y| (*x, *y)))
    {
        assert!(arith::pow(x, y).is_same(x.powf(y)), "{x} to the {y}");
    }
}

#[test]
fn exp_error_is_below_1_unit_in_last_place() {
    use crate::compute::arith::Float;
    let mut worst: f64 = 0.0;
    for bits in (0..=u32::MAX).step_by(9973) {
        let x = f32::from_bits(bits);
        let (actual, exact) = (Float::exp(x), f64::from(x).exp());
        if exact.is_nan() || exact >= f64::from(f32::MAX) || exact < f64::from(f32::MIN_POSITIVE) {
            assert!(
                actual.is_same(exact as f32) || (f64::from(actual) - exact).abs() < 2e-45,
                "{x}: {actual} {exact}"
            );
            continue;
        }
        let unit = f64::from(actual.next_up()) - f64::from(actual);
        worst = worst.max((f64::from(actual) - exact).abs() / unit);
    }
    assert!(worst < 1.0, "{worst}");
    assert_eq!(
        [
            Float::exp(f32::NEG_INFINITY),
            Float::exp(0.0_f32),
            Float::exp(89.0_f32)
        ],
        [0.0, 1.0, f32::INFINITY]
    );
}

#[test]
fn half_arithmetic_rounds_once() {
    use sp_plugin::{Bf16, F16};
    let (x, y) = (F16::from_f32(2048.0), F16::from_f32(1.0));
    assert_eq!(x.plus(y).to_f32(), 2048.0);
    assert_eq!(arith::neg(y).to_f32(), -1.0);
    assert_eq!(arith::sqrt(Bf16::from_f32(4.0)).to_f32(), 2.0);
}

#[test]
fn update_in_place_matches_map() {
    for len in [0, 1, 7, 64, 4099, 70_000] {
        let x: Vec<f32> = (0..len).map(|n| n as f32 * 0.37 - 9.0).collect();
        let before: Vec<f32> = x.iter().map(|x| 3.0 - x * x).collect();
        let expected: Vec<f32> = before.iter().zip(&x).map(|(o, x)| o - x).collect();
        on_every_isa(|isa| {
            let mut out = before.clone();
            update(&mut out, &x, arith::sub);
            assert_same(isa, &out, &expected);
        });
    }
}
