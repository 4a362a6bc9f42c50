//! The Rust types of tensor elements.

use sp_abi::tf_datatype::TF_DataType;

use crate::Bool;

/// A type that has the same representation in tensors and in Rust.
///
/// # Safety
/// - [`DTYPE`](Element::DTYPE) is the TensorFlow type whose elements have this size and meaning.
/// - The type has no padding and no invalid bit patterns, since any code may have written a tensor's bytes.
///   So `bool` is not an element; the element type of `TF_BOOL` is [`Bool`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a tensor's elements",
    note = "elements of `TF_BOOL` are `sp_plugin::Bool`: a tensor may contain bytes that are not a valid `bool`"
)]
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The type in TensorFlow.
    const DTYPE: TF_DataType;
}

macro_rules! elements {
    ($($ty:ty = $dtype:ident),* $(,)?) => {
        $(
            // SAFETY: TensorFlow's types.proto defines this dtype with the size and meaning of the Rust type.
            // The type is a number or a byte: it has no padding, and every bit pattern is valid.
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
