//! The 8-bit floats. They are bytes with conversions; arithmetic is done in `f32`.

/// The bits of a format: exponent, mantissa and bias, and how it encodes what is not finite.
#[derive(Clone, Copy)]
struct Format {
    mantissa_bits: u32,
    bias: i32,
    special: Special,
}

/// The encoding of infinity and NaN in a format.
#[derive(Clone, Copy, PartialEq)]
enum Special {
    /// The highest exponent, as IEEE 754.
    Ieee,
    /// There is no infinity; all bits but the sign's are 1 for NaN.
    NanOnly,
    /// There is neither infinity nor -0, whose bits are those of NaN.
    NanIsNegativeZero,
}

impl Format {
    /// Returns the bits of NaN.
    const fn nan(self) -> u8 {
        match self.special {
            Special::Ieee => 0x7E,
            Special::NanOnly => 0x7F,
            Special::NanIsNegativeZero => 0x80,
        }
    }

    /// Returns the bits of the largest finite number.
    const fn largest(self) -> u64 {
        match self.special {
            Special::Ieee => 0x7F - (1 << self.mantissa_bits),
            Special::NanOnly => 0x7E,
            Special::NanIsNegativeZero => 0x7F,
        }
    }

    /// Converts exactly.
    fn decode(self, bits: u8) -> f32 {
        let (sign, magnitude) = (bits & 0x80 != 0, u64::from(bits & 0x7F));
        let is_nan = match self.special {
            Special::Ieee => magnitude > self.largest() + 1,
            Special::NanOnly => magnitude > self.largest(),
            Special::NanIsNegativeZero => bits == 0x80,
        };
        if is_nan {
            return f32::NAN;
        }
        let value = match magnitude > self.largest() {
            true => f32::INFINITY,
            false => self.magnitude_to_f32(magnitude),
        };
        if sign { -value } else { value }
    }

    fn magnitude_to_f32(self, magnitude: u64) -> f32 {
        let (exponent, mantissa) = (
            (magnitude >> self.mantissa_bits) as i32,
            (magnitude & ((1 << self.mantissa_bits) - 1)) as f32,
        );
        let unit = (1 << self.mantissa_bits) as f32;
        // Every value is a multiple of 2^-17, or 2^-18, which is normal in f32.
        match exponent {
            0 => mantissa / unit * 2_f32.powi(1 - self.bias),
            _ => (1.0 + mantissa / unit) * 2_f32.powi(exponent - self.bias),
        }
    }

    /// Rounds to nearest, ties to even. A number above the largest is infinity, or NaN in a format without infinity.
    fn encode(self, x: f64) -> u8 {
        let sign = u8::from(x.is_sign_negative()) << 7;
        if x.is_nan() {
            return match self.special {
                Special::NanIsNegativeZero => self.nan(),
                _ => self.nan() | sign,
            };
        }
        let magnitude = self.round(x.abs());
        match (magnitude > self.largest(), self.special) {
            (true, Special::Ieee) => (self.largest() + 1) as u8 | sign,
            (true, Special::NanOnly) => self.nan() | sign,
            (true, Special::NanIsNegativeZero) => self.nan(),
            (false, Special::NanIsNegativeZero) if magnitude == 0 => 0,
            // The largest magnitude has 7 bits.
            (false, _) => magnitude as u8 | sign,
        }
    }

    /// Rounds a number that is not negative to exponent and mantissa. They exceed the largest number on overflow.
    fn round(self, x: f64) -> u64 {
        let (lowest, largest) = (1 - self.bias, 1 << 11);
        let exponent = ((x.to_bits() >> 52) as i32 - 1023).max(lowest);
        if !x.is_finite() || exponent >= largest {
            return u64::MAX;
        }
        // The unit in the last place is a power of two, so the quotient is exact.
        let unit = 2_f64.powi(exponent - self.mantissa_bits as i32);
        let units = (x / unit).round_ties_even() as u64;
        // A carry of the mantissa is one of the exponent; the hidden bit is 1 above the lowest exponent.
        (((exponent - lowest) as u64) << self.mantissa_bits) + units
    }
}

macro_rules! float8 {
    ($($name:ident = $dtype:literal, $mantissa_bits:literal, $bias:literal, $special:ident;)*) => {$(
        #[doc = concat!("TensorFlow's `", $dtype, "`: a byte with ", stringify!($mantissa_bits), " bits of mantissa.")]
        #[derive(Clone, Copy, Debug, Default)]
        #[repr(transparent)]
        pub struct $name(pub u8);

        impl $name {
            const FORMAT: Format = Format {
                mantissa_bits: $mantissa_bits,
                bias: $bias,
                special: Special::$special,
            };

            /// NaN
            pub const NAN: Self = Self(Self::FORMAT.nan());

            /// Converts exactly.
            pub fn to_f32(self) -> f32 {
                Self::FORMAT.decode(self.0)
            }

            /// Rounds to nearest, ties to even. What is too large is infinity, or NaN if the type has no infinity.
            pub fn from_f32(x: f32) -> Self {
                Self(Self::FORMAT.encode(x.into()))
            }

            /// Rounds to nearest, ties to even. What is too large is infinity, or NaN if the type has no infinity.
            pub fn from_f64(x: f64) -> Self {
                Self(Self::FORMAT.encode(x))
            }
        }

        /// Compares the numbers: NaN is not equal to itself.
        impl PartialEq for $name {
            fn eq(&self, y: &Self) -> bool {
                self.to_f32() == y.to_f32()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, y: &Self) -> Option<std::cmp::Ordering> {
                self.to_f32().partial_cmp(&y.to_f32())
            }
        }
    )*};
}

float8! {
    F8E5M2 = "float8_e5m2", 2, 15, Ieee;
    F8E4M3FN = "float8_e4m3fn", 3, 7, NanOnly;
    F8E4M3FNUZ = "float8_e4m3fnuz", 3, 8, NanIsNegativeZero;
    F8E4M3B11FNUZ = "float8_e4m3b11fnuz", 3, 11, NanIsNegativeZero;
    F8E5M2FNUZ = "float8_e5m2fnuz", 2, 16, NanIsNegativeZero;
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! check_round_trip {
        ($($name:ident)*) => {$(
            for bits in 0..=u8::MAX {
                let x = $name(bits).to_f32();
                let back = $name::from_f32(x);
                assert!(if x.is_nan() { back.to_f32().is_nan() } else { back.0 == bits }, "{bits:#x} {x} {back:?}");
            }
        )*};
    }

    #[test]
    fn every_byte_round_trips_through_f32() {
        check_round_trip!(F8E5M2 F8E4M3FN F8E4M3FNUZ F8E4M3B11FNUZ F8E5M2FNUZ);
    }

    #[test]
    fn largest_numbers_are_those_of_the_formats() {
        let finite = |values: &mut dyn Iterator<Item = f32>| {
            values.filter(|it| it.is_finite()).fold(0.0, f32::max)
        };
        assert_eq!(
            finite(&mut (0..=255).map(|it| F8E5M2(it).to_f32())),
            57344.0
        );
        assert_eq!(
            finite(&mut (0..=255).map(|it| F8E4M3FN(it).to_f32())),
            448.0
        );
        assert_eq!(
            finite(&mut (0..=255).map(|it| F8E4M3FNUZ(it).to_f32())),
            240.0
        );
        assert_eq!(
            finite(&mut (0..=255).map(|it| F8E4M3B11FNUZ(it).to_f32())),
            30.0
        );
        assert_eq!(
            finite(&mut (0..=255).map(|it| F8E5M2FNUZ(it).to_f32())),
            57344.0
        );
    }

    #[test]
    fn rounds_to_nearest_with_ties_to_even() {
        for bits in 0..0x7D_u8 {
            let (low, high) = (F8E4M3FN(bits).to_f32(), F8E4M3FN(bits + 1).to_f32());
            let middle = (low + high) / 2.0;
            assert_eq!(F8E4M3FN::from_f32(middle).0, bits + (bits & 1));
            assert_eq!(F8E4M3FN::from_f32(middle.next_down()).0, bits);
            assert_eq!(F8E4M3FN::from_f32(middle.next_up()).0, bits + 1);
        }
    }

    #[test]
    fn overflow_is_infinity_or_nan() {
        assert_eq!(F8E5M2::from_f32(61439.0).to_f32(), 57344.0);
        assert_eq!(F8E5M2::from_f32(61440.0).to_f32(), f32::INFINITY);
        assert_eq!(
            F8E5M2::from_f32(f32::NEG_INFINITY).to_f32(),
            f32::NEG_INFINITY
        );
        assert_eq!(
            [F8E4M3FN::from_f32(464.0).0, F8E4M3FN::from_f32(465.0).0],
            [0x7E, 0x7F]
        );
        assert!(F8E4M3FNUZ::from_f64(1e300).to_f32().is_nan());
        assert_eq!(F8E4M3FNUZ::from_f32(-0.0).0, 0);
        assert_eq!(F8E5M2::from_f32(-0.0).0, 0x80);
    }
}
