//! Elements that a condition or an order selects, and their indices.

mod extreme;
mod nonzero;
mod sorted;
mod top_k;
mod unique;

pub use extreme::{Extreme, arg_extreme};
pub use nonzero::{Truth, count_nonzero, nonzero};
pub use sorted::{is_in_top_k, lower_bound, upper_bound};
pub use top_k::{Order, top_k};
pub use unique::{Key, Uniques, unique};

use crate::compute::machine::array;
use sp_plugin::{Bf16, Bool, Complex64, Complex128, F16};
use std::cmp::Ordering;
use std::mem::MaybeUninit;

/// An element type with a least and a greatest finite value.
pub trait Extremes: PartialOrd + Copy + Sync {
    /// The least finite value.
    const LOWEST_FINITE: Self;
    /// The greatest finite value.
    const HIGHEST_FINITE: Self;
}

/// Writes indices to elements of `width` bytes, 2, 4 or 8. An index is below the dims of a tensor, so it fits, except where
/// TensorFlow's own kernel wraps too. So a search is compiled once for all types of indices.
pub fn write_indices(
    out: &mut [MaybeUninit<u8>],
    width: usize,
    indices: impl Iterator<Item = usize>,
) {
    match width {
        2 => write_bytes(out, indices.map(|it| (it as u16).to_ne_bytes())),
        4 => write_bytes(out, indices.map(|it| (it as u32).to_ne_bytes())),
        _ => write_bytes(out, indices.map(|it| (it as u64).to_ne_bytes())),
    }
}

fn write_bytes<const N: usize>(
    out: &mut [MaybeUninit<u8>],
    indices: impl Iterator<Item = [u8; N]>,
) {
    let (elements, _) = out.as_chunks_mut::<N>();
    for (element, index) in elements.iter_mut().zip(indices) {
        *element = array::map(index, MaybeUninit::new);
    }
}

macro_rules! elements {
    ($($int:ty)*; $($float:ident)*) => {
        $(
            impl Truth for $int {
                #[inline(always)]
                fn is_true(self) -> bool {
                    self != 0
                }
            }

            impl Order for $int {
                #[inline(always)]
                fn order(self, other: Self) -> Ordering {
                    self.cmp(&other)
                }

                #[inline(always)]
                fn is_above(self, other: Self) -> bool {
                    self > other
                }
            }

            impl Key for $int {
                #[inline(always)]
                fn key(self) -> Option<u64> {
                    Some(self as u64)
                }
            }

            impl Extremes for $int {
                const LOWEST_FINITE: Self = <$int>::MIN;
                const HIGHEST_FINITE: Self = <$int>::MAX;
            }
        )*
        $(
            impl Truth for $float {
                #[inline(always)]
                fn is_true(self) -> bool {
                    self != 0.0
                }
            }

            impl Order for $float {
                #[inline(always)]
                fn order(self, other: Self) -> Ordering {
                    let nan_first = || other.is_nan().cmp(&self.is_nan());
                    self.partial_cmp(&other).unwrap_or_else(nan_first)
                }

                #[inline(always)]
                fn is_above(self, other: Self) -> bool {
                    (self > other) | (other.is_nan() & !self.is_nan())
                }
            }

            impl Key for $float {
                #[inline(always)]
                fn key(self) -> Option<u64> {
                    // Zero of either sign has one key.
                    let bits = u64::from((self + 0.0).to_bits());
                    (!self.is_nan()).then_some(bits)
                }
            }

            impl Extremes for $float {
                const LOWEST_FINITE: Self = $float::MIN;
                const HIGHEST_FINITE: Self = $float::MAX;
            }
        )*
    };
}

elements!(u8 i8 u16 i16 u32 i32 u64 i64; f32 f64);

impl Truth for Bool {
    #[inline(always)]
    fn is_true(self) -> bool {
        self.get()
    }
}

impl Key for Bool {
    fn key(self) -> Option<u64> {
        Some(u64::from(self.get()))
    }
}

impl Extremes for Bool {
    const LOWEST_FINITE: Self = Self::FALSE;
    const HIGHEST_FINITE: Self = Self::TRUE;
}

macro_rules! halves {
    ($($half:ident $lowest:literal $highest:literal;)*) => {$(
        impl Truth for $half {
            #[inline(always)]
            fn is_true(self) -> bool {
                self.to_f32().is_true()
            }
        }

        impl Order for $half {
            #[inline(always)]
            fn order(self, other: Self) -> Ordering {
                self.to_f32().order(other.to_f32())
            }

            #[inline(always)]
            fn is_above(self, other: Self) -> bool {
                self.to_f32().is_above(other.to_f32())
            }
        }

        impl Key for $half {
            #[inline(always)]
            fn key(self) -> Option<u64> {
                self.to_f32().key()
            }
        }

        impl Extremes for $half {
            const LOWEST_FINITE: Self = Self($lowest);
            const HIGHEST_FINITE: Self = Self($highest);
        }
    )*};
}

halves! {
    F16 0xfbff 0x7bff;
    Bf16 0xff7f 0x7f7f;
}

macro_rules! complex {
    ($($complex:ident)*) => {$(
        impl Truth for $complex {
            #[inline(always)]
            fn is_true(self) -> bool {
                self.re.is_true() || self.im.is_true()
            }
        }
    )*};
}

complex!(Complex64 Complex128);
