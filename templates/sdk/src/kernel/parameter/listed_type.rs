//! The types in the lists of `#[kernel(..)]`.

use sp_abi::tf_datatype::TF_DataType;

use crate::Element;
use crate::kernel::marker;

/// A type in a list of `#[kernel(..)]`: an [`Element`], or [`Text`](marker::Text), [`Resource`](marker::Resource) or
/// [`Variant`](marker::Variant).
///
/// # Safety
/// - [`DTYPE`](Self::DTYPE) is the type that TensorFlow gives a tensor of these elements: a kernel reads its bytes as such.
/// - [`Any`](Self::Any) is the marker of that type, or one that fits every type of numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a tensor's elements",
    note = "elements of `TF_BOOL` are `sp_plugin::Bool`: a tensor may contain bytes that are not a valid `bool`",
    note = "a list may also have `Text`, `Resource` and `Variant` of `sp_plugin::kernel::marker`"
)]
pub unsafe trait ListedType {
    /// The type in TensorFlow.
    const DTYPE: TF_DataType;
    /// The marker of an argument in a list with `any`.
    type Any;
}

// SAFETY: an `Element` has its type, and parameters of `AnyType` check the type of each tensor.
unsafe impl<T: Element> ListedType for T {
    const DTYPE: TF_DataType = T::DTYPE;
    type Any = marker::AnyType;
}

macro_rules! listed {
    ($($marker:ident = $dtype:ident;)*) => {$(
        // SAFETY: the marker is that of the type.
        unsafe impl ListedType for marker::$marker {
            const DTYPE: TF_DataType = TF_DataType::$dtype;
            type Any = Self;
        }
    )*};
}

listed! {
    Text = TF_STRING;
    Resource = TF_RESOURCE;
    Variant = TF_VARIANT;
}
