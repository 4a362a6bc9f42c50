//! Sizes as the C compiler has them, and as the `struct_size` protocol has them. The two differ.

/// What `sizeof` and `alignof` say, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Layout {
    /// `sizeof`, tail padding included.
    pub size: u64,
    /// `alignof`.
    pub align: u64,
}

/// The size that both sides write into `struct_size`: the end of the last field, without tail
/// padding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StructSize {
    /// The macro or constant that names it: `SP_PLATFORM_STRUCT_SIZE`.
    pub symbol: String,
    /// The field that its definition names as the last one.
    pub last_field: String,
    /// Its value in bytes.
    pub value: u64,
}
