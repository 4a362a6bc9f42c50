//! Every kernel against the oracle: random shapes and values (empty, any rank, odd sizes, NaN and infinities), on every
//! instruction set of the machine.

mod cast;
mod elementwise;
#[cfg(all(unix, not(miri)))]
mod guard;
mod matmul;
mod nn;
mod reduce;

use super::Isa;
use super::shape::len;
use proptest::collection::vec;
use proptest::prelude::*;
use sp_plugin::Bool;

/// Runs `body` once per instruction set; the name is for messages.
pub fn on_every_isa(body: impl Fn(&str)) {
    Isa::available().for_each(|isa| isa.scope(|| body(isa.level().name())));
}

/// What it means that two elements are the same.
pub trait Same: Copy + std::fmt::Debug {
    /// The same bits, or both NaN.
    fn same(self, other: Self) -> bool;
}

macro_rules! same {
    ($($int:ty)*; $($float:ty)*) => {
        $(impl Same for $int {
            fn same(self, other: Self) -> bool { self == other }
        })*
        $(impl Same for $float {
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
        })*
    };
}

same!(Bool u8 i8 u16 i16 u32 i32 u64 i64; f32 f64);

/// Panics at the first element that is not the same.
pub fn assert_same<T: Same>(isa: &str, got: &[T], wanted: &[T]) {
    assert_eq!(got.len(), wanted.len(), "{isa}");
    let differs = got
        .iter()
        .zip(wanted)
        .position(|(got, wanted)| !got.same(*wanted));
    if let Some(i) = differs {
        panic!("{isa}: element {i} is {:?}, not {:?}", got[i], wanted[i]);
    }
}

/// Dims of up to five axes.
pub fn dims() -> impl Strategy<Value = Vec<usize>> {
    vec(
        prop_oneof![1 => Just(0_usize), 3 => Just(1), 12 => 2..5_usize, 3 => 5..20_usize],
        0..=5,
    )
    .prop_filter("small", |dims| {
        dims.iter().map(|dim| (*dim).max(1)).product::<usize>() < 8000
    })
}

/// Dims of two operands that broadcast.
pub fn pair() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
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

/// Floats, now and then special.
pub fn number() -> impl Strategy<Value = f64> {
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

/// As many numbers as dims have elements.
pub fn tensor(dims: &[usize]) -> impl Strategy<Value = Vec<f64>> + use<> {
    vec(number(), len(dims))
}

/// The numbers in another type.
pub fn of<T>(x: &[f64], f: impl Fn(f64) -> T) -> Vec<T> {
    x.iter().map(|x| f(*x)).collect()
}
