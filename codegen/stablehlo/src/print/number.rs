//! The text of numbers. MLIR prints seven digits if they are the number, then as many as its type needs, then its bits.

use crate::elements::Element;
use crate::entry::Entry;

/// Returns the text of a number of a type of VHLO or of the builtin dialect.
pub(super) fn scalar(type_: &Entry<'_>, bits: u64) -> String {
    let width = type_.bit_width().unwrap_or(64);
    match type_.layout.name.trim_end_matches("_v1") {
        "bf16" => float(Element::BFloat16, bits),
        "f16" | "f32" | "f64" => float(Element::Float(width), bits),
        name if name.starts_with('f') => float(Element::SmallFloat(name), bits),
        "bool" => integer(Element::Boolean, bits),
        name if name.starts_with('u') => integer(Element::Unsigned(width), bits),
        "integer" if width == 1 => integer(Element::Boolean, bits),
        _ => integer(Element::Signed(width), bits),
    }
}

/// Returns the text of an element of a tensor.
pub(super) fn element(element: Element, bytes: &[u8]) -> String {
    if let Element::Complex32 | Element::Complex64 = element {
        let (real, imaginary) = bytes.split_at(bytes.len() / 2);
        let part = Element::Float(real.len() as u32 * 8);
        return format!(
            "({},{})",
            float(part, bits(real)),
            float(part, bits(imaginary))
        );
    }
    match element {
        Element::Boolean | Element::Signed(_) | Element::Unsigned(_) => {
            integer(element, bits(bytes))
        }
        _ => float(element, bits(bytes)),
    }
}

fn bits(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

fn integer(element: Element, bits: u64) -> String {
    match element {
        Element::Boolean => (bits & 1 != 0).to_string(),
        Element::Signed(width @ 1..=64) => {
            let unused = 64 - width;
            ((bits << unused) as i64 >> unused).to_string()
        }
        Element::Unsigned(width @ 1..=63) => (bits & ((1 << width) - 1)).to_string(),
        _ => bits.to_string(),
    }
}

/// A format of floating-point numbers.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of the exponent.
    exponent: u32,
    /// Bits of the significand, without the leading one.
    significand: u32,
    bias: i32,
    special: Special,
}

/// The bits that are no finite number.
#[derive(Clone, Copy)]
enum Special {
    /// Those with the largest exponent.
    LargestExponent,
    /// Those with all bits set but the sign.
    AllOnes,
    /// Those of a negative zero.
    NegativeZero,
    None,
}

impl Format {
    const fn new(exponent: u32, significand: u32, bias: i32, special: Special) -> Self {
        Self {
            exponent,
            significand,
            bias,
            special,
        }
    }

    fn from_element(element: Element) -> Option<Self> {
        use Special::{AllOnes, LargestExponent, NegativeZero, None};
        Some(match element {
            Element::Float(16) => Self::new(5, 10, 15, LargestExponent),
            Element::BFloat16 => Self::new(8, 7, 127, LargestExponent),
            Element::Float(32) => Self::new(8, 23, 127, LargestExponent),
            Element::Float(64) => Self::new(11, 52, 1023, LargestExponent),
            Element::SmallFloat("f8E5M2") => Self::new(5, 2, 15, LargestExponent),
            Element::SmallFloat("f8E4M3") => Self::new(4, 3, 7, LargestExponent),
            Element::SmallFloat("f8E3M4") => Self::new(3, 4, 3, LargestExponent),
            Element::SmallFloat("f8E4M3FN") => Self::new(4, 3, 7, AllOnes),
            Element::SmallFloat("f8E4M3FNUZ") => Self::new(4, 3, 8, NegativeZero),
            Element::SmallFloat("f8E5M2FNUZ") => Self::new(5, 2, 16, NegativeZero),
            Element::SmallFloat("f8E4M3B11FNUZ") => Self::new(4, 3, 11, NegativeZero),
            Element::SmallFloat("f6E2M3FN") => Self::new(2, 3, 1, None),
            Element::SmallFloat("f6E3M2FN") => Self::new(3, 2, 3, None),
            Element::SmallFloat("f4E2M1FN") => Self::new(2, 1, 1, None),
            _ => return Option::None,
        })
    }

    fn is_finite(self, bits: u64) -> bool {
        let sign = 1 << (self.exponent + self.significand);
        let largest = ((1 << self.exponent) - 1) << self.significand;
        match self.special {
            Special::LargestExponent => bits & largest != largest,
            Special::AllOnes => bits | sign != sign | (sign - 1),
            Special::NegativeZero => bits != sign,
            Special::None => true,
        }
    }

    /// Converts the bits of a finite number.
    fn decode(self, bits: u64) -> f64 {
        if self.significand == 52 {
            return f64::from_bits(bits);
        }
        let fraction = bits & ((1 << self.significand) - 1);
        let power = (bits >> self.significand & ((1 << self.exponent) - 1)) as i32;
        let unit = |power: i32| 2_f64.powi(power - self.bias - self.significand as i32);
        let magnitude = match power {
            0 => fraction as f64 * unit(1),
            _ => (fraction | 1 << self.significand) as f64 * unit(power),
        };
        if bits >> (self.exponent + self.significand) & 1 != 0 {
            -magnitude
        } else {
            magnitude
        }
    }

    /// Rounds a number to the nearest of the format.
    fn round(self, value: f64) -> f64 {
        if self.significand == 52 || value == 0.0 {
            return value;
        }
        let power = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(1 - self.bias);
        let unit = 2_f64.powi(power - self.significand as i32);
        (value / unit).round_ties_even() * unit
    }
}

/// Returns the text of a floating-point number.
pub(super) fn float(element: Element, bits: u64) -> String {
    let hexadecimal = || format!("0x{bits:X}");
    let Some(format) = Format::from_element(element).filter(|it| it.is_finite(bits)) else {
        return hexadecimal();
    };
    let value = format.decode(bits);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let short = format!("{sign}{}", short(value.abs()));
    if short
        .parse()
        .is_ok_and(|parsed| format.round(parsed) == value)
    {
        return short;
    }
    long(value.abs(), format.significand + 1)
        .map_or_else(hexadecimal, |text| format!("{sign}{text}"))
}

/// Returns digits of a positive number, and the power of ten of the last one. As LLVM does it, the number is first cut to
/// the bits that `precision` digits need, and then rounded to that many digits.
fn digits(value: f64, precision: usize) -> (String, i32) {
    let stored = (value.to_bits() >> 52) as i32;
    let fraction = value.to_bits() & ((1 << 52) - 1);
    let (odd, power) = if stored == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, stored - 1075)
    };
    let power = power + odd.trailing_zeros() as i32;
    let places = (-power).max(0) as usize;
    let mut digits = format!("{value:.places$}")
        .replace('.', "")
        .trim_start_matches('0')
        .to_owned();
    let bits = (value.log2() + places as f64 * 10_f64.log2()).floor() as usize + 1;
    let cut = bits.saturating_sub((precision * 196).div_ceil(59)) * 59 / 196;
    digits.truncate(digits.len() - cut);
    let exact = digits.len();
    digits.truncate(digits.trim_end_matches('0').len());
    let mut last = cut as i32 - places as i32 + (exact - digits.len()) as i32;
    if digits.len() > precision {
        last += (digits.len() - precision) as i32;
        let is_up = digits.as_bytes()[precision] >= b'5';
        digits.truncate(precision);
        let rounded = digits.parse::<u128>().unwrap_or_default() + u128::from(is_up);
        digits = rounded.to_string();
        last += (digits.len() - digits.trim_end_matches('0').len()) as i32;
        digits.truncate(digits.trim_end_matches('0').len());
    }
    (digits, last)
}

/// Returns the text with seven digits, of which six are of the number.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0.000000e+00".to_owned();
    }
    let (digits, last) = digits(value, 6);
    let (first, rest) = digits.split_at(1);
    let exponent = last + rest.len() as i32;
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{first}.{rest:0<6}e{sign}{:02}", exponent.abs())
}

/// Returns the text with all digits that a number of a precision needs, or `None` if it is an integer.
fn long(value: f64, precision: u32) -> Option<String> {
    let limit = 2 + precision as usize * 59 / 196;
    let (digits, last) = digits(value, limit);
    let (first, rest) = digits.split_at(1);
    let exponent = last + rest.len() as i32;
    Some(
        if exponent < -3 || last > 0 && (last > 3 || exponent >= limit as i32) {
            let rest = if rest.is_empty() { "0" } else { rest };
            format!("{first}.{rest}E{exponent:+}")
        } else if last >= 0 {
            return None;
        } else if exponent >= 0 {
            let (whole, fraction) = digits.split_at(exponent as usize + 1);
            format!("{whole}.{fraction}")
        } else {
            format!("0.{}{digits}", "0".repeat(-exponent as usize - 1))
        },
    )
}
