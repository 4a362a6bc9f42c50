//! Differences between the elements of two tensors of one type.

use sp_abi::tf_datatype::TF_DataType;

use crate::{Bf16, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F16};

/// Smallest magnitude for which the absolute tolerance is relative to the largest expected number: below it a sum whose
/// terms cancel out consists of rounding errors.
const MIN_SCALE: f64 = 0.01;

/// The first element that differs, and the number of such elements.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    pub first: usize,
    pub count: usize,
    pub expected: String,
    pub found: String,
}

/// The tolerance for floating point numbers of a type.
///
/// A number differs if its distance from the expected one exceeds `relative * |expected| + absolute * scale`. The scale is
/// the largest finite expected magnitude, and [`MIN_SCALE`] at least.
#[derive(Clone, Copy)]
struct Tolerance {
    relative: f64,
    absolute: f64,
}

/// Floating point numbers in memory: one for each element, or two for a complex one.
#[derive(Clone, Copy)]
struct Floats {
    /// Size of one number in bytes.
    width: usize,
    decode: fn(&[u8]) -> f64,
    tolerance: Tolerance,
}

/// Returns the difference between the elements of two tensors, which have `width` bytes each; `None` if they are equal
/// within the tolerance of their type.
pub(super) fn find(
    dtype: TF_DataType,
    width: usize,
    [expected, found]: [&[u8]; 2],
) -> Option<Difference> {
    if expected == found {
        return None;
    }
    match floats_of(dtype) {
        Some(floats) => {
            let scale = floats.scale(expected);
            collect(dtype, width, [expected, found], |expected, found| {
                floats.is_close(expected, found, scale)
            })
        }
        None => collect(dtype, width, [expected, found], |expected, found| {
            integer_bits(dtype, expected).eq(integer_bits(dtype, found))
        }),
    }
}

fn collect(
    dtype: TF_DataType,
    width: usize,
    [expected, found]: [&[u8]; 2],
    is_equal: impl Fn(&[u8], &[u8]) -> bool,
) -> Option<Difference> {
    let pairs = expected
        .chunks_exact(width)
        .zip(found.chunks_exact(width))
        .enumerate();
    let mut different = pairs.filter(|(_, (expected, found))| !is_equal(expected, found));
    let (first, (expected, found)) = different.next()?;
    Some(Difference {
        first,
        count: 1 + different.count(),
        expected: to_text(dtype, expected),
        found: to_text(dtype, found),
    })
}

/// Returns the bytes of an integer that have a meaning: those of four bits are in the low half of a byte.
fn integer_bits(dtype: TF_DataType, element: &[u8]) -> impl Iterator<Item = u8> {
    let mask = match dtype {
        TF_DataType(29..=30) => 0xF,
        _ => 0xFF,
    };
    element.iter().map(move |byte| byte & mask)
}

impl Floats {
    /// Returns the magnitude to which the absolute tolerance is relative.
    fn scale(self, expected: &[u8]) -> f64 {
        let numbers = expected.chunks_exact(self.width).map(self.decode);
        let magnitudes = numbers.map(f64::abs).filter(|it| it.is_finite());
        magnitudes.fold(MIN_SCALE, f64::max)
    }

    /// Returns true if each number of an element is close to the expected one. NaN equals NaN.
    fn is_close(self, expected: &[u8], found: &[u8], scale: f64) -> bool {
        let numbers = expected
            .chunks_exact(self.width)
            .zip(found.chunks_exact(self.width));
        numbers
            .map(|(expected, found)| ((self.decode)(expected), (self.decode)(found)))
            .all(|(expected, found)| self.tolerance.accepts(expected, found, scale))
    }
}

impl Tolerance {
    fn accepts(self, expected: f64, found: f64, scale: f64) -> bool {
        if !expected.is_finite() || !found.is_finite() {
            return expected == found || expected.is_nan() && found.is_nan();
        }
        (expected - found).abs() <= self.relative * expected.abs() + self.absolute * scale
    }
}

/// Returns the numbers of a type that is compared with a tolerance.
fn floats_of(dtype: TF_DataType) -> Option<Floats> {
    let (width, decode, relative, absolute): (_, fn(&[u8]) -> f64, _, _) = match dtype {
        TF_DataType::TF_DOUBLE | TF_DataType::TF_COMPLEX128 => {
            (8, |it| f64::from_ne_bytes(array(it)), 1e-9, 1e-10)
        }
        TF_DataType::TF_FLOAT | TF_DataType::TF_COMPLEX64 => {
            (4, |it| f32::from_ne_bytes(array(it)).into(), 1e-4, 1e-5)
        }
        TF_DataType::TF_HALF => (2, |it| F16(bits(it)).to_f32().into(), 5e-3, 1e-3),
        TF_DataType::TF_BFLOAT16 => (2, |it| Bf16(bits(it)).to_f32().into(), 3e-2, 8e-3),
        // The 8-bit floats by their numbers, since early releases have no names for them.
        TF_DataType(24) => (1, |it| F8E5M2(it[0]).to_f32().into(), 0.25, 0.125),
        TF_DataType(25) => (1, |it| F8E4M3FN(it[0]).to_f32().into(), 0.125, 0.0625),
        TF_DataType(26) => (1, |it| F8E4M3FNUZ(it[0]).to_f32().into(), 0.125, 0.0625),
        TF_DataType(27) => (1, |it| F8E4M3B11FNUZ(it[0]).to_f32().into(), 0.125, 0.0625),
        TF_DataType(28) => (1, |it| F8E5M2FNUZ(it[0]).to_f32().into(), 0.25, 0.125),
        _ => return None,
    };
    let tolerance = Tolerance { relative, absolute };
    Some(Floats {
        width,
        decode,
        tolerance,
    })
}

/// Returns the bytes of one number, which has `N` of them.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(bytes);
    array
}

fn bits(bytes: &[u8]) -> u16 {
    u16::from_ne_bytes(array(bytes))
}

/// Formats an element.
fn to_text(dtype: TF_DataType, element: &[u8]) -> String {
    if let Some(floats) = floats_of(dtype) {
        let numbers = element.chunks_exact(floats.width).map(floats.decode);
        let numbers: Vec<_> = numbers.map(|it| number_to_text(floats.width, it)).collect();
        return match &numbers[..] {
            [number] => number.clone(),
            numbers => format!("({})", numbers.join(", ")),
        };
    }
    match dtype {
        TF_DataType::TF_INT8 | TF_DataType::TF_QINT8 => {
            i8::from_ne_bytes(array(element)).to_string()
        }
        TF_DataType::TF_INT16 | TF_DataType::TF_QINT16 => {
            i16::from_ne_bytes(array(element)).to_string()
        }
        TF_DataType::TF_INT32 | TF_DataType::TF_QINT32 => {
            i32::from_ne_bytes(array(element)).to_string()
        }
        TF_DataType::TF_INT64 => i64::from_ne_bytes(array(element)).to_string(),
        TF_DataType::TF_BOOL if element[0] < 2 => (element[0] == 1).to_string(),
        _ => unsigned(element).to_string(),
    }
}

/// Formats a number with the digits of its type.
fn number_to_text(width: usize, number: f64) -> String {
    match width {
        8 => format!("{number:?}"),
        _ => format!("{:?}", number as f32),
    }
}

/// Returns the unsigned integer of up to eight bytes.
fn unsigned(element: &[u8]) -> u64 {
    match element.len() {
        1 => element[0].into(),
        2 => u16::from_ne_bytes(array(element)).into(),
        4 => u32::from_ne_bytes(array(element)).into(),
        _ => u64::from_ne_bytes(array(element)),
    }
}

/// Returns the indices of an element in a tensor of this shape.
pub(super) fn indices(element: usize, dims: &[usize]) -> Vec<usize> {
    let mut rest = element;
    let mut indices: Vec<_> = dims
        .iter()
        .rev()
        .map(|dim| {
            // A tensor that has elements has no dim of 0.
            let dim = (*dim).max(1);
            let index = rest % dim;
            rest /= dim;
            index
        })
        .collect();
    indices.reverse();
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const N: usize, T: Copy>(values: &[T], to_bytes: fn(T) -> [u8; N]) -> Vec<u8> {
        values.iter().flat_map(|it| to_bytes(*it)).collect()
    }

    fn find_f32(expected: &[f32], found: &[f32]) -> Option<Difference> {
        let [expected, found] = [expected, found].map(|it| bytes(it, f32::to_ne_bytes));
        find(TF_DataType::TF_FLOAT, 4, [&expected, &found])
    }

    #[test]
    fn floats_within_tolerance_are_equal() {
        assert_eq!(find_f32(&[1.0, 2.0], &[1.000_05, 2.0]), None);
        assert_eq!(find_f32(&[1000.0, 0.0], &[1000.0, 0.001]), None);
        assert_eq!(find_f32(&[0.0, 0.0], &[1e-8, -1e-8]), None);
        assert_eq!(find_f32(&[0.0], &[-0.0]), None);
    }

    #[test]
    fn first_element_outside_tolerance_is_named_with_the_number_of_others() {
        let expected = Difference {
            first: 1,
            count: 2,
            expected: "2.0".to_owned(),
            found: "2.1".to_owned(),
        };
        let found = find_f32(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.1, 3.0, 0.0]);
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn zeros_differ_from_small_numbers() {
        let found = find_f32(&[1e-3, 2e-3], &[0.0, 0.0]);
        assert_eq!(found.map(|it| it.count), Some(2));
    }

    #[test]
    fn numbers_that_are_not_finite_are_compared_exactly() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert_eq!(find_f32(&[nan, inf], &[-nan, inf]), None);
        for (expected, found) in [(inf, -inf), (inf, 1.0), (1.0, inf), (nan, 1.0), (1.0, nan)] {
            assert!(
                find_f32(&[expected], &[found]).is_some(),
                "{expected} {found}"
            );
        }
    }

    #[test]
    fn tolerance_depends_on_type() {
        let of_f64 = |values: [f64; 1]| bytes(&values, f64::to_ne_bytes);
        let find_f64 = |expected, found| {
            let (expected, found) = (of_f64([expected]), of_f64([found]));
            find(TF_DataType::TF_DOUBLE, 8, [&expected, &found])
        };
        assert_eq!(find_f64(1.0, 1.000_000_000_5), None);
        assert!(find_f64(1.0, 1.000_05).is_some());
        let of_f16 = |value: f32| F16::from_f32(value).0.to_ne_bytes();
        let half = TF_DataType::TF_HALF;
        assert_eq!(find(half, 2, [&of_f16(1.0), &of_f16(1.004)]), None);
        assert!(find(half, 2, [&of_f16(1.0), &of_f16(1.02)]).is_some());
        let of_bf16 = |value: f32| Bf16::from_f32(value).0.to_ne_bytes();
        let bf16 = TF_DataType::TF_BFLOAT16;
        assert_eq!(find(bf16, 2, [&of_bf16(1.0), &of_bf16(1.02)]), None);
        assert!(find(bf16, 2, [&of_bf16(1.0), &of_bf16(1.1)]).is_some());
        for dtype in (24..=28).map(TF_DataType) {
            // The least bit of the mantissa, and 0.
            assert_eq!(find(dtype, 1, [&[0x41], &[0x42]]), None, "{dtype:?}");
            assert!(find(dtype, 1, [&[0x41], &[0]]).is_some(), "{dtype:?}");
        }
    }

    #[test]
    fn complex_numbers_are_compared_by_parts() {
        let [expected, found] = [[1.0_f32, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, -4.0]]
            .map(|it| bytes(&it, f32::to_ne_bytes));
        let found = find(TF_DataType::TF_COMPLEX64, 8, [&expected, &found]).unwrap();
        assert_eq!((found.first, found.count), (1, 1));
        assert_eq!(
            (&*found.expected, &*found.found),
            ("(3.0, 4.0)", "(3.0, -4.0)")
        );
    }

    #[test]
    fn integers_are_compared_exactly() {
        let [expected, found] = [[7_i32, -1], [7, -2]].map(|it| bytes(&it, i32::to_ne_bytes));
        let found = find(TF_DataType::TF_INT32, 4, [&expected, &found]).unwrap();
        assert_eq!((&*found.expected, &*found.found), ("-1", "-2"));
        let found = find(TF_DataType::TF_BOOL, 1, [&[0, 1], &[0, 2]]).unwrap();
        assert_eq!((&*found.expected, &*found.found), ("true", "2"));
        let large = [u64::MAX, 1].map(u64::to_ne_bytes);
        let found = find(TF_DataType::TF_UINT64, 8, [&large[0], &large[1]]).unwrap();
        assert_eq!(found.expected, "18446744073709551615");
    }

    #[test]
    fn high_bits_of_four_bit_integers_have_no_meaning() {
        for dtype in (29..=30).map(TF_DataType) {
            assert_eq!(find(dtype, 1, [&[0x05], &[0xF5]]), None);
            assert!(find(dtype, 1, [&[0x05], &[0x06]]).is_some());
        }
    }

    #[test]
    fn indices_are_in_row_major_order() {
        assert_eq!(indices(5, &[2, 3]), [1, 2]);
        assert_eq!(indices(7, &[2, 1, 4]), [1, 0, 3]);
        assert!(indices(0, &[]).is_empty());
    }
}
