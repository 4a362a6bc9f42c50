//! Every kernel, compared with the oracle: random shapes and values (empty, any rank, odd sizes, NaN and infinities),
//! on every instruction set of the machine.

mod batch_norm;
mod blocks;
mod cast;
mod complex;
mod conv;
mod einsum;
mod elementwise;
mod epilogue;
mod families;
#[cfg(all(unix, not(miri)))]
mod guard;
mod image;
mod indices;
mod matmul;
mod movement;
mod nn;
mod pool;
mod precision;
mod reduce;
mod rows;
mod search;
mod sparse;
mod steps;
mod training;
mod values;
mod volume;

use super::Isa;
use super::shape::len;
use proptest::collection::vec;
use proptest::prelude::*;
use sp_plugin::Bool;
use std::mem::MaybeUninit;

/// Runs `body` with each instruction set; its name is for messages.
pub fn on_every_isa(body: impl Fn(&str)) {
    Isa::available().for_each(|isa| isa.scope(|| body(isa.level().name())));
}

/// Returns the elements that a function writes over elements of this value.
pub fn written_over<T: Copy>(
    before: T,
    count: usize,
    write: impl FnOnce(&mut [MaybeUninit<T>]),
) -> Vec<T> {
    let mut out = vec![MaybeUninit::new(before); count];
    write(&mut out);
    // SAFETY: every element was initialized before.
    out.iter().map(|it| unsafe { it.assume_init() }).collect()
}

/// Returns the elements that a function writes.
pub fn written<T: Copy + Default>(
    count: usize,
    write: impl FnOnce(&mut [MaybeUninit<T>]),
) -> Vec<T> {
    written_over(T::default(), count, write)
}

/// A type whose elements are compared by their bits.
pub trait SameBits: Copy + std::fmt::Debug {
    /// Returns true if both have the same bits, or both are NaN.
    fn is_same(self, other: Self) -> bool;
}

macro_rules! same {
    ($($int:ty)*; $($float:ty)*) => {
        $(impl SameBits for $int {
            fn is_same(self, other: Self) -> bool { self == other }
        })*
        $(impl SameBits for $float {
            fn is_same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
        })*
    };
}

same!(Bool u8 i8 u16 i16 u32 i32 u64 i64; f32 f64);

/// Panics if elements differ.
pub fn assert_same<T: SameBits>(isa: &str, actual: &[T], expected: &[T]) {
    assert_eq!(actual.len(), expected.len(), "{isa}");
    let differs = actual
        .iter()
        .zip(expected)
        .position(|(actual, expected)| !actual.is_same(*expected));
    if let Some(i) = differs {
        panic!(
            "{isa}: element {i} is {:?}, not {:?}",
            actual[i], expected[i]
        );
    }
}

/// Returns dims of up to five axes.
pub fn dims() -> impl Strategy<Value = Vec<usize>> {
    vec(
        prop_oneof![1 => Just(0_usize), 3 => Just(1), 12 => 2..5_usize, 3 => 5..20_usize],
        0..=5,
    )
    .prop_filter("small", |dims| {
        dims.iter().map(|dim| (*dim).max(1)).product::<usize>() < 8000
    })
}

/// Returns dims of two operands that can be broadcast.
pub fn broadcast_dims() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    (
        dims(),
        vec(0..4_u8, 5),
        vec(0..4_u8, 5),
        0..=5_usize,
        any::<bool>(),
    )
        .prop_map(|(dims, x, y, cut, swap)| {
            let ones = |keep: &[u8]| -> Vec<usize> {
                dims.iter()
                    .zip(keep)
                    .map(|(dim, keep)| if *keep == 0 { 1 } else { *dim })
                    .collect()
            };
            let (x, y) = (ones(&x), ones(&y)[cut.min(dims.len())..].to_vec());
            if swap { (y, x) } else { (x, y) }
        })
}

/// Returns floats, some of them special.
pub fn any_float() -> impl Strategy<Value = f64> {
    let special = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e-40,
        3e38,
        -3e38,
    ];
    prop_oneof![8 => -100.0..100.0_f64, 1 => proptest::sample::select(special.to_vec())]
}

/// Returns the elements of a tensor with these dims.
pub fn tensor(dims: &[usize]) -> impl Strategy<Value = Vec<f64>> + use<> {
    vec(any_float(), len(dims))
}

/// Converts the numbers to another type.
pub fn convert_all<T>(x: &[f64], f: impl Fn(f64) -> T) -> Vec<T> {
    x.iter().map(|x| f(*x)).collect()
}
