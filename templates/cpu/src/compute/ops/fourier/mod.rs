//! Discrete Fourier transforms of any length, in the type of the elements. Lengths are divided into their prime factors; if
//! one of these is large, the transform is a convolution of a length that is a power of two (Bluestein's algorithm).

mod axes;
mod chirp;
mod columns;
mod lanes;
mod line;
mod passes;
mod plan;
mod rows;

pub use axes::{complex, from_real, to_real};

use crate::compute::scalar::elementary::Elementary;
use plan::{Plan, Plans};
use std::f64::consts::PI;

/// The direction of a transform. The inverse one is divided by the number of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From values to frequencies.
    Forward,
    /// From frequencies to values.
    Inverse,
}

/// The type of the parts of numbers that are transformed.
pub trait Part: Elementary {
    /// Returns the list of the plans for this type.
    fn plans() -> &'static Plans<Self>;
}

macro_rules! part {
    ($($ty:ty)*) => {$(
        impl Part for $ty {
            fn plans() -> &'static Plans<Self> {
                static PLANS: Plans<$ty> = Plans::new();
                &PLANS
            }
        }
    )*};
}

part!(f32 f64);

/// The number of vectors that are transformed at once.
const LANES: usize = 8;

/// Returns the parts of `exp(-2 pi i k / len)`, computed of an angle of at most an eighth of a turn, so that roots are symmetric.
fn root<T: Part>(k: usize, len: usize) -> [T; 2] {
    // Eighths of an element, so that the limits of the octants are integers.
    let turn = 8 * (k % len.max(1)) as u64;
    let len = len as u64;
    let (turn, is_above) = if turn > 4 * len {
        (8 * len - turn, true)
    } else {
        (turn, false)
    };
    let (turn, is_left) = if turn > 2 * len {
        (4 * len - turn, true)
    } else {
        (turn, false)
    };
    let (turn, is_steep) = if turn > len {
        (2 * len - turn, true)
    } else {
        (turn, false)
    };
    let (sine, cosine) = (PI * turn as f64 / (4 * len) as f64).sin_cos();
    let (sine, cosine) = if is_steep {
        (cosine, sine)
    } else {
        (sine, cosine)
    };
    let re = if is_left { -cosine } else { cosine };
    let im = if is_above { sine } else { -sine };
    [T::constant(re), T::constant(im)]
}

#[cfg(test)]
mod tests;
