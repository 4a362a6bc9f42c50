//! 16-bit floats, compared with the function on `f32` of each element between two conversions.

use super::*;
use crate::compute::arith;
use crate::compute::elementary::Elementary;
use crate::compute::precision::{Precision, map_all, map_one, map_two};
use crate::compute::relation;
use crate::compute::simd::half;
use crate::compute::workspace::Buffer;
use crate::compute::{Broadcast, cost, oracle};
use sp_plugin::{Bf16, F16};

/// The bits of a 16-bit float.
trait Bits: Precision<Compute = f32> + Default + std::fmt::Debug {
    fn bits(self) -> u16;
    fn from_bits(bits: u16) -> Self;
}

macro_rules! bits {
    ($($half:ident)*) => {$(
        impl Bits for $half {
            fn bits(self) -> u16 { self.0 }
            fn from_bits(bits: u16) -> Self { Self(bits) }
        }
    )*};
}

bits!(F16 Bf16);

fn all_bits<T: Bits>(x: &[T]) -> Vec<u16> {
    x.iter().map(|x| x.bits()).collect()
}

/// Compares `f` of all 65,536 elements.
fn check_function<T: Bits>(f: impl Fn(f32) -> f32 + Sync + Copy) {
    let x: Vec<T> = (0..=u16::MAX).map(T::from_bits).collect();
    let expected: Vec<u16> = x
        .iter()
        .map(|x| T::from_compute(f(x.to_compute())).bits())
        .collect();
    on_every_isa(|isa| {
        let cheap = written(x.len(), |out: &mut [MaybeUninit<T>]| {
            map_one(cost::Cheap, &x, out, f)
        });
        let expensive = written(x.len(), |out: &mut [MaybeUninit<T>]| {
            map_one(cost::Expensive, &x, out, f)
        });
        assert_eq!(all_bits(&cheap), expected, "{isa}");
        assert_eq!(all_bits(&expensive), expected, "{isa}");
    });
}

#[test]
fn conversions_of_f16_match_those_of_one_element() {
    let halves: Vec<F16> = (0..=u16::MAX).map(F16).collect();
    let floats: Vec<f32> = (0..1 << 18)
        .map(|i: u32| f32::from_bits(i.wrapping_mul(2_654_435_769)))
        .chain([
            f32::NAN,
            -f32::NAN,
            f32::INFINITY,
            65_520.0,
            65_519.996,
            2.0_f32.powi(-25),
        ])
        .collect();
    for (isa, count) in
        Isa::available().flat_map(|isa| [0, 1, 7, 8, 9, 65_535].map(|count| (isa, count)))
    {
        let wide: Vec<f32> = written(count, |out| half::widen(isa, &halves[..count], out));
        for (x, wide) in halves.iter().zip(&wide) {
            assert!(wide.is_same(x.to_f32()), "{isa:?} {x:?}: {wide}");
        }
        let x = &floats[floats.len() - count..];
        let narrow = written(count, |out| half::narrow(isa, x, out));
        let expected: Vec<u16> = x.iter().map(|x| F16::from_f32(*x).0).collect();
        assert_eq!(all_bits(&narrow), expected, "{isa:?}");
    }
}

#[test]
fn functions_of_every_16_bit_float_match_oracle() {
    check_function::<F16>(arith::neg);
    check_function::<Bf16>(arith::neg);
    check_function::<F16>(arith::sqrt);
    check_function::<Bf16>(f32::hyperbolic_tangent);
}

/// Compares a function of two operands of these shapes, and a comparison.
fn check_operands<T: Bits>([x_dims, y_dims]: [&[usize]; 2]) {
    let values = |dims: &[usize], seed: u16| -> Vec<T> {
        (0..len(dims))
            .map(|i| T::from_bits((i as u16).wrapping_mul(40_503).wrapping_add(seed)))
            .collect()
    };
    let (x, y) = (values(x_dims, 1), values(y_dims, 7));
    let plan = Broadcast::new([x_dims, y_dims]).unwrap();
    let pairs = |f: &dyn Fn(f32, f32) -> u16| {
        oracle::map2(plan.dims(), (&x, x_dims), (&y, y_dims), |x, y| {
            f(x.to_compute(), y.to_compute())
        })
    };
    let differences = pairs(&|x, y| T::from_compute(x - y).bits());
    let relations = pairs(&|x, y| (x < y).into());
    on_every_isa(|isa| {
        let [of_cheap, of_expensive] = [
            compute_both(cost::Cheap, &plan, [&x, &y]),
            compute_both(cost::Expensive, &plan, [&x, &y]),
        ];
        assert_eq!(of_cheap, of_expensive, "{isa} {x_dims:?} {y_dims:?}");
        let (found, found_relations) = of_cheap;
        assert_eq!(found, differences, "{isa} {x_dims:?} {y_dims:?}");
        assert_eq!(found_relations, relations, "{isa} {x_dims:?} {y_dims:?}");
    });
}

/// Returns the bits of differences, and whether each first operand is less.
fn compute_both<T: Bits>(
    cost: impl cost::Cost,
    plan: &Broadcast<2>,
    operands: [&[T]; 2],
) -> (Vec<u16>, Vec<u16>) {
    let differences = written(plan.len(), |out: &mut [MaybeUninit<T>]| {
        map_two(cost, plan, operands, out, arith::sub)
    });
    let relations = written(plan.len(), |out: &mut [MaybeUninit<Bool>]| {
        map_two(cost, plan, operands, out, relation::less)
    });
    let relations = relations.iter().map(|it| it.get().into()).collect();
    (all_bits(&differences), relations)
}

/// Compares sums of several operands, of which an element is rounded once.
fn check_sums<T: Precision + Default + PartialEq + std::fmt::Debug>(value: impl Fn(usize) -> T)
where
    T::Compute: arith::Number,
{
    for (count, len) in [2, 3, 9]
        .into_iter()
        .flat_map(|count| [0, 1, 1791, 1792, 1793, 200_000].map(|len| (count, len)))
    {
        let operands: Vec<Vec<T>> = (0..count)
            .map(|at| (0..len).map(|i| value(at * 31 + i)).collect())
            .collect();
        let operands: Vec<&[T]> = operands.iter().map(|it| &it[..]).collect();
        let expected: Vec<T> = (0..len)
            .map(|i| {
                let elements = operands.iter().map(|it| it[i].to_compute());
                T::from_compute(elements.reduce(arith::add).unwrap())
            })
            .collect();
        on_every_isa(|isa| {
            let found = written(len, |out| map_all(cost::Cheap, &operands, out, arith::add));
            assert!(found == expected, "{isa} {count} of {len}");
        });
    }
}

#[test]
fn sums_of_several_operands_match_oracle() {
    check_sums(|i| (i % 100) as f32 / 8.0);
    check_sums(|i| F16::from_f32((i % 100) as f32 / 8.0));
    check_sums(|i| i as u8);
    check_sums(|i| i as i64);
}

#[test]
#[should_panic = "out of range"]
fn operand_of_a_sum_that_is_too_short_panics() {
    let (x, short) = ([1.0_f32; 3], [1.0_f32; 2]);
    written(3, |out| {
        map_all(cost::Cheap, &[&x, &x, &short], out, arith::add)
    });
}

#[test]
fn functions_of_two_16_bit_operands_match_oracle() {
    let shapes: [[&[usize]; 2]; 12] = [
        [&[], &[]],
        [&[0, 3], &[3]],
        [&[5], &[]],
        [&[2, 1, 4], &[3, 1]],
        [&[7, 1023], &[1023]],
        [&[1025, 3], &[1025, 1]],
        [&[2, 3, 1, 5, 7], &[3, 4, 1, 7]],
        [&[300_001], &[300_001]],
        [&[15], &[15]],
        [&[16], &[16]],
        [&[17], &[17]],
        [&[31], &[31]],
    ];
    for dims in shapes {
        check_operands::<F16>(dims);
        check_operands::<Bf16>(dims);
    }
}

#[test]
fn update_stores_rounded_elements() {
    let mut x: Vec<Bf16> = (0..100_003).map(|i| Bf16::from_f32(i as f32)).collect();
    let expected: Vec<u16> = x
        .iter()
        .map(|x| Bf16::from_f32(x.to_f32() + 0.3).bits())
        .collect();
    Bf16::update(&mut x, |x| x.iter_mut().for_each(|x| *x += 0.3));
    assert_eq!(all_bits(&x), expected);
    let mut y = [1.0_f32, 2.0];
    let address = y.as_ptr();
    f32::update(&mut y, |y| assert_eq!(y.as_ptr(), address));
}

#[test]
fn widened_borrows_elements_that_need_no_conversion() {
    let x = [1.0_f32, 2.0];
    assert_eq!(f32::widened(&x).as_ptr(), x.as_ptr());
    assert_eq!(F16::widened(&[F16::ONE, F16::NAN])[0], 1.0);
    assert!(F16::widened(&[]).is_empty());
}

#[test]
fn buffers_may_be_dropped_in_any_order() {
    let (mut x, mut y): (Buffer<f32>, Buffer<f64>) = (Buffer::new(100), Buffer::new(100));
    x.fill(1.0);
    y.fill(2.0);
    drop(x);
    assert_eq!(Buffer::<f32>::new(7).len(), 7);
    assert_eq!(*y, [2.0; 100]);
}

#[test]
fn small_integers_wrap_as_their_own_arithmetic_does() {
    let x: Vec<i8> = (i8::MIN..=i8::MAX).collect();
    let y: Vec<i8> = x.iter().rev().map(|x| x.wrapping_mul(37)).collect();
    let plan = Broadcast::of_equal_shapes(&[x.len()]);
    let products = written(x.len(), |out: &mut [MaybeUninit<i8>]| {
        map_two(cost::Cheap, &plan, [&x, &y], out, arith::mul::<i64>)
    });
    let expected: Vec<i8> = x.iter().zip(&y).map(|(x, y)| x.wrapping_mul(*y)).collect();
    assert_eq!(products, expected);
    let negated = written(x.len(), |out: &mut [MaybeUninit<i8>]| {
        map_one(cost::Cheap, &x, out, arith::neg::<i64>)
    });
    assert_eq!(
        negated,
        x.iter().map(|x| x.wrapping_neg()).collect::<Vec<i8>>()
    );
}

#[test]
fn integers_wrap_before_a_quotient() {
    assert_eq!(u8::wrapped(255 + 254) / 2, 126);
    assert_eq!(i16::wrapped(i64::from(i16::MAX) + 1), i64::from(i16::MIN));
    assert_eq!(i64::wrapped(i64::MAX), i64::MAX);
    assert_eq!(F16::wrapped(100_000.0), 100_000.0);
}
