//! Sizes of structs: those of the C compiler, and those of the `struct_size` protocol. The two differ.

/// Size and alignment of a type in C, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Layout {
    /// `sizeof`, tail padding included.
    pub size: u64,
    /// `alignof`.
    pub align: u64,
}

/// The size that both sides store in `struct_size`: the end of the last field, without tail padding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StructSize {
    /// Name of the macro or constant, such as `SP_PLATFORM_STRUCT_SIZE`.
    pub symbol: String,
    /// The last field, as the definition of the macro or constant names it.
    pub last_field: String,
    /// The value in bytes.
    pub value: u64,
}
