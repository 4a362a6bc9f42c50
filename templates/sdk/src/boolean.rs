//! The elements of `TF_BOOL` tensors.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// A boolean element of a tensor: a byte that is true unless it is 0.
///
/// TensorFlow's logical ops write 0 and 1, but `tf.io.decode_raw` and other plugins may write any byte, and a
/// [`bool`] with another value is undefined behaviour. Comparisons use the truth value. [`Bool::from`]
/// returns 0 or 1.
///
/// ```
/// use sp_plugin::Bool;
/// let mask = [Bool::from_byte(0), Bool::from_byte(255), Bool::from(true)];
/// assert_eq!(mask.map(Bool::get), [false, true, true]);
/// assert_eq!(mask[1], mask[2]);
/// ```
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bool(u8);

impl Bool {
    /// False: the byte 0.
    pub const FALSE: Self = Self(0);
    /// True: the byte 1.
    pub const TRUE: Self = Self(1);

    /// Creates the boolean with this byte.
    pub const fn from_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// Returns the byte.
    pub const fn to_byte(self) -> u8 {
        self.0
    }

    /// Returns the truth value.
    #[inline(always)]
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool {
    #[inline(always)]
    fn from(value: bool) -> Self {
        Self(value as u8)
    }
}

impl From<Bool> for bool {
    #[inline(always)]
    fn from(value: Bool) -> Self {
        value.get()
    }
}

impl fmt::Debug for Bool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl fmt::Display for Bool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl PartialEq for Bool {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Bool {}

impl PartialEq<bool> for Bool {
    fn eq(&self, other: &bool) -> bool {
        self.get() == *other
    }
}

impl PartialOrd for Bool {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bool {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.get().cmp(&other.get())
    }
}

impl Hash for Bool {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

impl Not for Bool {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        (!self.get()).into()
    }
}

macro_rules! operators {
    ($($operator:ident $function:ident;)*) => {$(
        impl $operator for Bool {
            type Output = Self;

            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                self.get().$function(other.get()).into()
            }
        }
    )*};
}

operators! {
    BitAnd bitand;
    BitOr bitor;
    BitXor bitxor;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that a tensor from `tf.io.decode_raw` may contain.
    const BYTES: [u8; 4] = [0, 1, 2, 255];

    /// Returns `BYTES` as a kernel reads them: through a slice over the tensor's memory.
    fn elements() -> &'static [Bool] {
        // SAFETY: `BYTES` is static and readable for its length. `Bool` is transparent over `u8`, and any byte
        // is a valid value.
        unsafe { std::slice::from_raw_parts(BYTES.as_ptr().cast(), BYTES.len()) }
    }

    #[test]
    fn every_byte_except_0_is_true() {
        let values: Vec<bool> = elements().iter().map(|&it| it.into()).collect();
        assert_eq!(values, [false, true, true, true]);
        // An index that is computed from a boolean is in bounds.
        let names = elements()
            .iter()
            .map(|&it| ["no", "yes"][usize::from(it.get())]);
        assert_eq!(names.collect::<Vec<_>>(), ["no", "yes", "yes", "yes"]);
    }

    #[test]
    fn operators_use_truth_value_and_return_0_or_1() {
        for &x in elements() {
            for &y in elements() {
                let (a, b) = (x.get(), y.get());
                let found = [x & y, x | y, x ^ y, !x].map(Bool::to_byte);
                assert_eq!(
                    found,
                    [a & b, a | b, a ^ b, !a].map(u8::from),
                    "{x:?} {y:?}"
                );
                assert_eq!((x == y, x < y), (a == b, !a & b));
            }
        }
    }
}
