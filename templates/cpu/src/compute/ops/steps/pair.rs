//! Two functions in one loop: the second one reads the first one's result from a register.
//!
//! Both functions are cheap, and only the second one reads the first, so the pair saves a write to the first cache
//! and a read. There are 36 loops; a third function would need 216.

use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::simd::Isa;
use crate::compute::scalar::arith;

/// A loop over two functions. Its operands are those of the first function, and the other operand of the second one.
pub(super) type PairBody = fn(Isa, [&[f32]; 3], &mut [f32]);

/// A function of two operands. One that needs a single operand ignores the second.
trait BinaryFunction {
    fn compute(x: f32, y: f32) -> f32;
}

macro_rules! functions {
    ($($name:ident: $function:expr;)*) => {$(
        struct $name;

        impl BinaryFunction for $name {
            #[inline(always)]
            fn compute(x: f32, y: f32) -> f32 {
                ($function)(x, y)
            }
        }
    )*};
}

functions! {
    Add: arith::add;
    Mul: arith::mul;
    RealDiv: arith::real_div;
    ReversedRealDiv: |x, y| arith::real_div(y, x);
    Sqrt: |x, _| arith::sqrt(x);
    Square: |x, _| arith::square(x);
    Sub: arith::sub;
    ReversedSub: |x, y| arith::sub(y, x);
}

/// Returns the loop over two ops, or `None` if there is none. `is_first` is true if the first op's result is the first
/// operand of the second op.
pub(super) fn find_body(first: &str, second: &str, is_first: bool) -> Option<PairBody> {
    match first {
        "AddN" | "AddV2" => find_second::<Add>(second, is_first),
        "Mul" => find_second::<Mul>(second, is_first),
        "RealDiv" => find_second::<RealDiv>(second, is_first),
        "Sqrt" => find_second::<Sqrt>(second, is_first),
        "Square" => find_second::<Square>(second, is_first),
        "Sub" => find_second::<Sub>(second, is_first),
        _ => None,
    }
}

fn find_second<First: BinaryFunction>(second: &str, is_first: bool) -> Option<PairBody> {
    match (second, is_first) {
        ("AddN" | "AddV2", _) => Some(compute::<First, Add>),
        ("Mul", _) => Some(compute::<First, Mul>),
        ("RealDiv", true) => Some(compute::<First, RealDiv>),
        ("RealDiv", false) => Some(compute::<First, ReversedRealDiv>),
        ("Sub", true) => Some(compute::<First, Sub>),
        ("Sub", false) => Some(compute::<First, ReversedSub>),
        _ => None,
    }
}

fn compute<First: BinaryFunction, Second: BinaryFunction>(
    isa: Isa,
    [x, y, z]: [&[f32]; 3],
    out: &mut [f32],
) {
    cost::Cheap.vectorize(
        isa,
        #[inline(always)]
        || {
            for (out, ((x, y), z)) in out.iter_mut().zip(x.iter().zip(y).zip(z)) {
                *out = Second::compute(First::compute(*x, *y), *z);
            }
        },
    );
}
