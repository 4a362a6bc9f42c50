//! Element types, numbered as `TF_DataType` numbers them.

use std::fmt;

/// A `TF_DataType`. Values that are not listed are possible.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct DType(pub u32);

macro_rules! dtypes {
    ($($name:ident = $value:literal $text:literal $size:literal,)*) => {
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

sp_ops::for_data_types!(dtypes);

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
