//! Rust types that are elements of tensors.

use sp_abi::tf_datatype::TF_DataType;

/// A type whose values lie in tensors as they lie in memory.
///
/// # Safety
/// [`DTYPE`](Element::DTYPE) is the TensorFlow type with this size and these bit patterns, and has
/// no drop glue.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// TensorFlow's name for it.
    const DTYPE: TF_DataType;
}

macro_rules! elements {
    ($($ty:ty = $dtype:ident),* $(,)?) => {
        $(
            // SAFETY: TensorFlow's types.proto gives this name the layout of this Rust type; a bool
            // in a tensor is 0 or 1.
            unsafe impl Element for $ty {
                const DTYPE: TF_DataType = TF_DataType::$dtype;
            }
        )*
    };
}

elements! {
    f32 = TF_FLOAT,
    f64 = TF_DOUBLE,
    i8 = TF_INT8,
    i16 = TF_INT16,
    i32 = TF_INT32,
    i64 = TF_INT64,
    u8 = TF_UINT8,
    u16 = TF_UINT16,
    u32 = TF_UINT32,
    u64 = TF_UINT64,
    bool = TF_BOOL,
}
