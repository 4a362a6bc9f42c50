//! The 16-bit floats. Conversions have no branch, so that loops over them are vectorized.
//!
//! They are own code instead of the crate half: conversions without branches are vectorized inside a kernel's loop.

/// IEEE 754 binary16: TensorFlow's `half`.
#[derive(Clone, Copy, Default, Debug)]
#[repr(transparent)]
pub struct F16(pub u16);

/// The upper half of an `f32`: TensorFlow's `bfloat16`.
#[derive(Clone, Copy, Default, Debug)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl F16 {
    /// 1
    pub const ONE: Self = Self(0x3C00);
    /// The quiet NaN.
    pub const NAN: Self = Self(0x7E00);

    /// Converts exactly.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        let magnitude = u32::from(self.0 & 0x7FFF);
        let sign = u32::from(self.0 & 0x8000) << 16;
        // A subnormal is a multiple of 2^-24, which is normal in f32: TensorFlow's threads flush subnormals of f32.
        let subnormal = (magnitude as f32 * (1.0 / 16_777_216.0)).to_bits();
        let normal = (magnitude << 13) + (112 << 23);
        let finite = if magnitude < 0x0400 {
            subnormal
        } else {
            normal
        };
        let bits = if magnitude >= 0x7C00 {
            magnitude << 13 | 0x7F80_0000
        } else {
            finite
        };
        f32::from_bits(bits | sign)
    }

    /// Rounds to nearest, ties to even. Overflow gives infinity; every NaN becomes the quiet one of its sign.
    #[inline(always)]
    pub fn from_f32(x: f32) -> Self {
        let bits = x.to_bits();
        let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7FFF_FFFF);
        // Adding 0.5 leaves the rounded subnormal in the low bits.
        let small = (f32::from_bits(magnitude) + 0.5)
            .to_bits()
            .wrapping_sub(0.5_f32.to_bits());
        let odd = magnitude >> 13 & 1;
        let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xFFF + odd) >> 13;
        let finite = if magnitude < 113 << 23 { small } else { normal };
        let ranged = if magnitude >= 143 << 23 {
            0x7C00
        } else {
            finite
        };
        let number = if magnitude > 0x7F80_0000 {
            0x7E00
        } else {
            ranged
        };
        Self((sign | number) as u16)
    }
}

impl Bf16 {
    /// 1
    pub const ONE: Self = Self(0x3F80);
    /// The quiet NaN.
    pub const NAN: Self = Self(0x7FC0);

    /// Converts exactly.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// Rounds to nearest, ties to even. Every NaN becomes the quiet one of its sign.
    #[inline(always)]
    pub fn from_f32(x: f32) -> Self {
        let bits = x.to_bits();
        let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
        let nan = bits >> 16 & 0x8000 | 0x7FC0;
        Self(if x.is_nan() { nan } else { rounded } as u16)
    }

    /// Rounds toward zero, as Cast with `Truncate`. Every NaN becomes the quiet one of its sign.
    #[inline(always)]
    pub fn truncated(x: f32) -> Self {
        let bits = x.to_bits() >> 16;
        Self(if x.is_nan() {
            bits & 0x8000 | 0x7FC0
        } else {
            bits
        } as u16)
    }
}

macro_rules! compared_as_f32 {
    ($($half:ident)*) => {$(
        impl PartialEq for $half {
            #[inline(always)]
            fn eq(&self, y: &Self) -> bool { self.to_f32() == y.to_f32() }
        }

        impl PartialOrd for $half {
            #[inline(always)]
            fn partial_cmp(&self, y: &Self) -> Option<std::cmp::Ordering> { self.to_f32().partial_cmp(&y.to_f32()) }
        }
    )*};
}

compared_as_f32!(F16 Bf16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_f16_round_trips_through_f32() {
        for bits in 0..=u16::MAX {
            let x = F16(bits).to_f32();
            let back = F16::from_f32(x).0;
            assert!(
                if x.is_nan() {
                    back == bits & 0x8000 | 0x7E00
                } else {
                    back == bits
                },
                "{bits:#x} {x} {back:#x}"
            );
        }
    }

    #[test]
    fn every_f16_converts_to_its_ieee_value() {
        for bits in 0..0x7C00_u16 {
            let (exponent, fraction) = (i32::from(bits >> 10), f64::from(bits & 0x3FF) / 1024.0);
            let value = if exponent == 0 {
                fraction * 2_f64.powi(-14)
            } else {
                (1.0 + fraction) * 2_f64.powi(exponent - 15)
            };
            assert_eq!(f64::from(F16(bits).to_f32()), value);
        }
        assert_eq!(F16(0x7C00).to_f32(), f32::INFINITY);
        assert_eq!(F16(0xFC00).to_f32(), f32::NEG_INFINITY);
    }

    #[test]
    fn f16_rounds_to_nearest_with_ties_to_even() {
        for bits in 0..0x7BFF_u16 {
            let (low, high) = (F16(bits).to_f32(), F16(bits + 1).to_f32());
            let middle = (low + high) / 2.0;
            assert_eq!(F16::from_f32(middle).0, bits + (bits & 1));
            assert_eq!(F16::from_f32(middle.next_down()).0, bits);
            assert_eq!(F16::from_f32(middle.next_up()).0, bits + 1);
        }
        assert_eq!(F16::from_f32(65519.99).0, 0x7BFF);
        assert_eq!(F16::from_f32(65520.0).0, 0x7C00);
        assert_eq!(F16::from_f32(f32::MAX).0, 0x7C00);
        assert_eq!(F16::from_f32(-0.0).0, 0x8000);
    }

    #[test]
    fn bf16_rounds_as_tensorflow() {
        let bits = |x: f32| Bf16::from_f32(x).0;
        assert_eq!(
            [bits(f32::NAN), bits(-f32::NAN), bits(3.4e38)],
            [32704, 65472, 32640]
        );
        assert_eq!(
            [
                bits(1e-40),
                bits(1.003_906_3),
                bits(1.011_718_8),
                bits(-0.0)
            ],
            [1, 16256, 16258, 32768]
        );
        assert_eq!(
            [Bf16::truncated(1.011_718_8).0, Bf16::truncated(f32::NAN).0],
            [16257, 32704]
        );
    }
}
