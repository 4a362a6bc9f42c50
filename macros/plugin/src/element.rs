//! Rust types that are elements of tensors.

use sp_abi::tf_datatype::TF_DataType;

use crate::Bool;

/// A type whose values lie in tensors as they lie in memory.
///
/// # Safety
/// - [`DTYPE`](Element::DTYPE) is the TensorFlow type whose elements have this size and meaning.
/// - Any bytes are a value of the type: it has no padding and no invalid bit patterns. A tensor's bytes
///   come from anywhere, and so `bool` is none: its element type is [`Bool`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a tensor's elements",
    note = "elements of `TF_BOOL` are `sp_plugin::Bool`: a tensor may hold bytes that are no `bool`"
)]
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// TensorFlow's name for it.
    const DTYPE: TF_DataType;
}

macro_rules! elements {
    ($($ty:ty = $dtype:ident),* $(,)?) => {
        $(
            // SAFETY: TensorFlow's types.proto gives this name the layout of this Rust type, a number or a
            // byte, of which any bit pattern is a value.
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
    Bool = TF_BOOL,
}
