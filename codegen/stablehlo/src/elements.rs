//! The elements of a constant tensor.

use std::borrow::Cow;

use crate::entry::{Entry, Value};

/// The type of the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are types of VHLO")]
pub enum Element {
    Boolean,
    Signed(u32),
    Unsigned(u32),
    /// A floating-point number of 16, 32 or 64 bits of IEEE 754.
    Float(u32),
    BFloat16,
    /// A floating-point number of at most eight bits, with the name of its format.
    SmallFloat(&'static str),
    Complex32,
    Complex64,
}

/// The elements of a constant tensor, in row-major order.
#[derive(Debug)]
pub struct Elements<'a> {
    /// Length of each dimension.
    pub shape: &'a [i64],
    /// Type of the elements.
    pub element: Element,
    /// True if `bytes` has one element, which is repeated.
    pub is_splat: bool,
    /// The elements, little-endian, each in whole bytes.
    pub bytes: Cow<'a, [u8]>,
}

impl Element {
    fn new(type_: &Entry<'_>, types: &[Entry<'_>]) -> Option<Self> {
        let name = type_.layout.name.strip_suffix("_v1")?;
        let width = type_.bit_width();
        match name {
            "bool" => Some(Self::Boolean),
            "index" => Some(Self::Signed(64)),
            "bf16" => Some(Self::BFloat16),
            "f16" | "f32" | "f64" => width.map(Self::Float),
            "complex" => match (&type_.values[..], types) {
                ([Value::Type(part)], types) => match Self::new(types.get(*part)?, &[])? {
                    Self::Float(32) => Some(Self::Complex32),
                    Self::Float(64) => Some(Self::Complex64),
                    _ => None,
                },
                _ => None,
            },
            name if name.starts_with('u') => width.map(Self::Unsigned),
            name if name.starts_with('i') => width.map(Self::Signed),
            name => width
                .filter(|width| *width <= 8)
                .map(|_| Self::SmallFloat(name)),
        }
    }

    /// Returns how many bytes an element has.
    pub fn size(self) -> usize {
        let bits = match self {
            Self::Boolean | Self::SmallFloat(_) => 8,
            Self::BFloat16 => 16,
            Self::Signed(bits) | Self::Unsigned(bits) | Self::Float(bits) => bits,
            Self::Complex32 => 64,
            Self::Complex64 => 128,
        };
        bits.div_ceil(8) as usize
    }
}

impl<'a> Elements<'a> {
    /// Returns the elements of an attribute, or `None` if it is no tensor.
    pub fn new(attribute: &'a Entry<'_>, types: &'a [Entry<'_>]) -> Option<Self> {
        let ("tensor_v1", [Value::Type(type_), Value::Bytes(bytes)]) =
            (attribute.layout.name, &attribute.values[..])
        else {
            return None;
        };
        let [.., Value::Integers(shape), Value::Type(element)] = &types.get(*type_)?.values[..]
        else {
            return None;
        };
        let element = Element::new(types.get(*element)?, types)?;
        let count = count(shape)?;
        let bytes = match element {
            Element::Boolean => unpack(bytes, count),
            _ => Cow::Borrowed(*bytes),
        };
        let is_splat = bytes.len() == element.size() && count != 0;
        (is_splat || Some(bytes.len()) == count.checked_mul(element.size())).then_some(Self {
            shape,
            element,
            is_splat,
            bytes,
        })
    }

    /// Returns an error if an attribute is a tensor whose bytes do not fit its type.
    pub(crate) fn check(attribute: &Entry<'_>, types: &[Entry<'_>]) -> Result<(), String> {
        if attribute.layout.name == "tensor_v1" && Elements::new(attribute, types).is_none() {
            return Err("the bytes of a tensor do not fit its type".to_owned());
        }
        Ok(())
    }
}

/// Returns the number of elements of a shape without dynamic dimensions.
fn count(shape: &[i64]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_usize, |count, &length| {
        count.checked_mul(usize::try_from(length).ok()?)
    })
}

/// Returns one byte for each boolean, or one byte if all are equal. They are stored as bits; early versions of VHLO stored
/// bytes. A single byte of zeros or of ones stands for any number of them.
fn unpack(bytes: &[u8], count: usize) -> Cow<'_, [u8]> {
    match bytes {
        [0] => Cow::Borrowed(&[0]),
        [0xff] => Cow::Borrowed(&[1]),
        _ if bytes.len() == count.div_ceil(8) && bytes.len() != count => Cow::Owned(
            (0..count)
                .map(|index| bytes[index / 8] >> (index % 8) & 1)
                .collect(),
        ),
        _ => Cow::Borrowed(bytes),
    }
}
