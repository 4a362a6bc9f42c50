//! Element types, numbered as `TF_DataType` numbers them.

use std::fmt;

/// A `TF_DataType`. Values that are not listed are possible.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct DType(pub u32);

macro_rules! dtypes {
    ($($name:ident = $value:literal: $size:literal,)*) => {
        impl DType {
            $(#[doc = concat!("`TF_", stringify!($name), "`.")] pub const $name: Self = Self($value);)*

            /// Returns the name, if the value has one.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            /// Returns the number of bytes of an element, or 0 if elements have no fixed size or are unknown.
            pub const fn size(self) -> usize {
                match self {
                    $(Self::$name => $size,)*
                    _ => 0,
                }
            }
        }
    };
}

dtypes! {
    FLOAT = 1: 4,
    DOUBLE = 2: 8,
    INT32 = 3: 4,
    UINT8 = 4: 1,
    INT16 = 5: 2,
    INT8 = 6: 1,
    STRING = 7: 0,
    COMPLEX64 = 8: 8,
    INT64 = 9: 8,
    BOOL = 10: 1,
    QINT8 = 11: 1,
    QUINT8 = 12: 1,
    QINT32 = 13: 4,
    BFLOAT16 = 14: 2,
    QINT16 = 15: 2,
    QUINT16 = 16: 2,
    UINT16 = 17: 2,
    COMPLEX128 = 18: 16,
    HALF = 19: 2,
    RESOURCE = 20: 0,
    VARIANT = 21: 0,
    UINT32 = 22: 4,
    UINT64 = 23: 8,
    FLOAT8_E5M2 = 24: 1,
    FLOAT8_E4M3FN = 25: 1,
    FLOAT8_E4M3FNUZ = 26: 1,
    FLOAT8_E4M3B11FNUZ = 27: 1,
    FLOAT8_E5M2FNUZ = 28: 1,
    INT4 = 29: 1,
    UINT4 = 30: 1,
    INT2 = 31: 1,
    UINT2 = 32: 1,
    FLOAT4_E2M1FN = 33: 1,
}

impl DType {
    /// Returns the distance of elements in a tensor: that of strings is the size of `TF_TString`.
    pub(crate) const fn stride(self) -> usize {
        match self {
            Self::STRING => 24,
            other => other.size(),
        }
    }
}

impl From<sp_ops::DataType> for DType {
    fn from(ty: sp_ops::DataType) -> Self {
        Self(ty.number())
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "data type {}", self.0),
        }
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A Rust type whose values are the elements of some tensor.
///
/// # Safety
/// - Elements of `DTYPE` have the size of this type.
/// - The type has no padding.
/// - Every byte pattern that `valid` accepts is a value of it.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The element type.
    const DTYPE: DType;

    /// Returns true if the bytes are valid values.
    fn valid(_bytes: &[u8]) -> bool {
        true
    }
}

macro_rules! elements {
    ($($ty:ty = $dtype:ident,)*) => {
        $(
            // SAFETY: the number has the size of the data type and no padding, and every byte pattern is a value.
            unsafe impl Element for $ty {
                const DTYPE: DType = DType::$dtype;
            }
        )*
    };
}

elements! {
    f32 = FLOAT,
    f64 = DOUBLE,
    i8 = INT8,
    i16 = INT16,
    i32 = INT32,
    i64 = INT64,
    u8 = UINT8,
    u16 = UINT16,
    u32 = UINT32,
    u64 = UINT64,
}

// SAFETY: `bool` is one byte as the data type, and `valid` accepts 0 and 1 only.
unsafe impl Element for bool {
    const DTYPE: DType = DType::BOOL;

    fn valid(bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| byte <= 1)
    }
}
