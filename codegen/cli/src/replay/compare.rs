//! The comparison of a tensor with the captured one.

use super::element::{floats, text};
use sp_host::{DType, Tensor, escape_control};
use sp_layer::runtime::capture::format;
use sp_layer::runtime::capture::format::Content;

/// Returns the first difference of `found` from the captured tensor, or `None` if there is none. Floating-point numbers may
/// differ by `tolerance` of one and of the captured number. The elements of the captured tensor are valid.
pub fn difference(
    captured: &format::Tensor,
    found: &Tensor,
    tolerance: Option<f64>,
) -> Option<String> {
    let dtype = DType(captured.dtype);
    if found.dtype() != dtype {
        return Some(format!(
            "expected the type {dtype}, found {}",
            found.dtype()
        ));
    }
    if found.dims() != captured.dims {
        let (expected, dims) = (&captured.dims, found.dims());
        return Some(format!("expected the shape {expected:?}, found {dims:?}"));
    }
    match &captured.content {
        Content::Bytes(bytes) if dtype.size() > 0 => {
            let (size, count) = (dtype.size(), found.bytes().len());
            if bytes.len() != count {
                let expected = bytes.len();
                return Some(format!("expected {expected} bytes, found {count}"));
            }
            let pairs = bytes.chunks(size).zip(found.bytes().chunks(size));
            let unequal = pairs.clone().enumerate();
            let unequal =
                unequal.filter(|(_, (one, other))| !is_equal(dtype, one, other, tolerance));
            describe(
                captured,
                unequal.map(|(index, (one, other))| (index, text(dtype, one), text(dtype, other))),
            )
        }
        Content::Strings(expected) => {
            let strings = found.to_strings();
            let pairs = expected.iter().zip(&strings).enumerate();
            let unequal = pairs.filter(|(_, (one, other))| one != other);
            let shown =
                |text: &[u8]| format!("\"{}\"", escape_control(&String::from_utf8_lossy(text)));
            describe(
                captured,
                unequal.map(|(index, (one, other))| (index, shown(one), shown(other))),
            )
        }
        _ => None,
    }
}

/// Returns the text about elements that differ: the first one, and their number.
fn describe(
    captured: &format::Tensor,
    mut unequal: impl Iterator<Item = (usize, String, String)>,
) -> Option<String> {
    let (index, expected, found) = unequal.next()?;
    let count = 1 + unequal.count();
    let all: i64 = captured.dims.iter().product();
    let place = position(index, &captured.dims);
    Some(format!(
        "differs at {place:?}: expected {expected}, found {found} ({count} of {all} elements)"
    ))
}

/// Returns the indices of an element by dimension.
fn position(index: usize, dims: &[i64]) -> Vec<usize> {
    let mut rest = index;
    let mut indices: Vec<usize> = dims
        .iter()
        .rev()
        .map(|dim| {
            let dim = usize::try_from(*dim).unwrap_or(1).max(1);
            let position = rest % dim;
            rest /= dim;
            position
        })
        .collect();
    indices.reverse();
    indices
}

fn is_equal(dtype: DType, expected: &[u8], found: &[u8], tolerance: Option<f64>) -> bool {
    if expected == found {
        return true;
    }
    let Some(tolerance) = tolerance else {
        return false;
    };
    let (Some(expected), Some(found)) = (floats(dtype, expected), floats(dtype, found)) else {
        return false;
    };
    let is_near = |(one, other): (&f64, &f64)| {
        one == other
            || one.is_nan() && other.is_nan()
            || (one - other).abs() <= tolerance * (1.0 + one.abs())
    };
    expected.iter().zip(&found).all(is_near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(values: &[f32]) -> format::Tensor {
        format::Tensor {
            dtype: DType::FLOAT.0,
            dims: vec![2, 2],
            is_on_device: true,
            content: Content::Bytes(values.iter().flat_map(|it| it.to_le_bytes()).collect()),
        }
    }

    #[test]
    fn the_first_element_that_differs_is_named() {
        let expected = captured(&[1.0, 2.0, 3.0, 4.0]);
        let found = Tensor::from([2, 2], &[1f32, 2.0, 3.5, 4.5]);
        let text = difference(&expected, &found, None).unwrap();
        assert_eq!(
            text,
            "differs at [1, 0]: expected 3, found 3.5 (2 of 4 elements)"
        );
        let equal = Tensor::from([2, 2], &[1f32, 2.0, 3.0, 4.0]);
        assert_eq!(difference(&expected, &equal, None), None);
        let other = Tensor::from([4], &[1f32, 2.0, 3.0, 4.0]);
        assert!(
            difference(&expected, &other, None)
                .unwrap()
                .contains("shape [2, 2], found [4]")
        );
    }

    #[test]
    fn a_tolerance_is_absolute_and_relative() {
        let expected = captured(&[0.0, f32::NAN, 1000.0, f32::INFINITY]);
        let found = Tensor::from([2, 2], &[0.0005_f32, -f32::NAN, 1000.9, f32::INFINITY]);
        assert!(difference(&expected, &found, None).is_some());
        assert_eq!(difference(&expected, &found, Some(1e-3)), None);
        assert!(difference(&expected, &found, Some(1e-4)).is_some());
    }
}
