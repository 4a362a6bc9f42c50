//! Integers of four bits, one in each byte, and quantized integers, whose scale is known to the op only.

/// An integer from -8 to 7: TensorFlow's `int4`, in the low four bits of a byte.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Int4(pub u8);

/// An integer from 0 to 15: TensorFlow's `uint4`, in the low four bits of a byte.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Uint4(pub u8);

impl Int4 {
    /// Returns the integer of the low four bits.
    #[inline(always)]
    pub const fn new(value: i8) -> Self {
        Self(value as u8 & 0xF)
    }

    /// Returns the value.
    #[inline(always)]
    pub const fn get(self) -> i8 {
        ((self.0 << 4) as i8) >> 4
    }
}

impl Uint4 {
    /// Returns the integer of the low four bits.
    #[inline(always)]
    pub const fn new(value: u8) -> Self {
        Self(value & 0xF)
    }

    /// Returns the value.
    #[inline(always)]
    pub const fn get(self) -> u8 {
        self.0 & 0xF
    }
}

macro_rules! quantized {
    ($($name:ident of $integer:ident = $dtype:literal;)*) => {$(
        #[doc = concat!("A quantized integer: TensorFlow's `", $dtype, "`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $integer);
    )*};
}

quantized! {
    QInt8 of i8 = "qint8";
    QUint8 of u8 = "quint8";
    QInt16 of i16 = "qint16";
    QUint16 of u16 = "quint16";
    QInt32 of i32 = "qint32";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bit_integers_ignore_high_bits() {
        for value in -8..8 {
            assert_eq!(Int4::new(value).get(), value);
            assert_eq!(Int4::new(value).0 & 0xF0, 0);
        }
        for value in 0..16 {
            assert_eq!(Uint4::new(value).get(), value);
            assert_eq!(Uint4(value | 0xA0).get(), value);
        }
        assert_eq!([Int4::new(8).get(), Int4(0xF7).get()], [-8, 7]);
        assert_eq!(Uint4::new(17).get(), 1);
    }
}
