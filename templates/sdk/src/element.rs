//! The Rust types of tensor elements.

mod complex;
mod float8;
mod half;
mod packed;

use sp_abi::tf_datatype::TF_DataType;

use crate::{Bool, Error, Result};

pub use complex::{Complex64, Complex128};
pub use float8::{F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ};
pub use half::{Bf16, F16};
pub use packed::{Int4, QInt8, QInt16, QInt32, QUint8, QUint16, Uint4};

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
            // The type consists of numbers of one size: it has no padding, and every bit pattern is valid.
            unsafe impl Element for $ty {
                const DTYPE: TF_DataType = TF_DataType::$dtype;
            }
        )*

        /// Returns the size in bytes of an element, or `None` for a type without a Rust type: its elements may have pointers.
        pub(crate) fn size_of_element(dtype: TF_DataType) -> Option<usize> {
            match dtype {
                $(TF_DataType::$dtype => Some(size_of::<$ty>()),)*
                _ => None,
            }
        }
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
    F16 = TF_HALF,
    Bf16 = TF_BFLOAT16,
    Complex64 = TF_COMPLEX64,
    Complex128 = TF_COMPLEX128,
    F8E5M2 = TF_FLOAT8_E5M2, // since 2.12
    F8E4M3FN = TF_FLOAT8_E4M3FN, // since 2.12
    F8E4M3FNUZ = TF_FLOAT8_E4M3FNUZ, // since 2.19
    F8E4M3B11FNUZ = TF_FLOAT8_E4M3B11FNUZ, // since 2.19
    F8E5M2FNUZ = TF_FLOAT8_E5M2FNUZ, // since 2.19
    Int4 = TF_INT4, // since 2.15
    Uint4 = TF_UINT4, // since 2.15
    QInt8 = TF_QINT8,
    QUint8 = TF_QUINT8,
    QInt16 = TF_QINT16,
    QUint16 = TF_QUINT16,
    QInt32 = TF_QINT32,
}

/// An element type without its Rust type: the type in TensorFlow, the size and the alignment in bytes.
#[derive(Clone, Copy)]
pub struct ElementLayout {
    pub(crate) dtype: TF_DataType,
    pub(crate) width: usize,
    /// The alignment that slices of elements require; 1 for elements that are bytes.
    pub(crate) alignment: usize,
}

impl ElementLayout {
    pub(crate) const fn new<E: Element>() -> Self {
        Self {
            dtype: E::DTYPE,
            width: size_of::<E>(),
            alignment: align_of::<E>(),
        }
    }

    /// Returns the layout of elements that are used as bytes, which have no alignment.
    #[inline]
    pub(crate) const fn as_bytes(self) -> Self {
        Self {
            alignment: 1,
            ..self
        }
    }

    /// Returns the layout, as bytes, of a type that is known when the kernel runs.
    ///
    /// # Errors
    /// Returns an error if the elements are no numbers: strings, resources and variants have pointers.
    pub(crate) fn from_dtype(dtype: TF_DataType) -> Result<Self> {
        let other =
            || Error::unimplemented(format!("elements of {dtype:?} cannot be used as bytes"));
        let width = size_of_element(dtype).ok_or_else(other)?;
        Ok(Self {
            dtype,
            width,
            alignment: 1,
        })
    }

    /// Checks that the elements are `T`s.
    pub(crate) fn check<T: Element>(self) -> Result<()> {
        match self.dtype == T::DTYPE {
            true => Ok(()),
            false => fail!(
                invalid_argument,
                "a tensor of {:?}, not {:?}",
                self.dtype,
                T::DTYPE
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_size<T: Element>() {
        assert_eq!(size_of_element(T::DTYPE), Some(size_of::<T>()));
    }

    #[test]
    fn sizes_are_those_of_rust_types() {
        check_size::<Bool>();
        check_size::<f32>();
        check_size::<u16>();
        check_size::<i64>();
        check_size::<Bf16>();
        check_size::<Complex64>();
        check_size::<Complex128>();
        check_size::<F8E5M2>(); // since 2.12
        check_size::<Int4>(); // since 2.15
        check_size::<QInt32>();
        for dtype in [
            TF_DataType::TF_STRING,
            TF_DataType::TF_RESOURCE,
            TF_DataType::TF_VARIANT,
            TF_DataType(99),
        ] {
            assert_eq!(size_of_element(dtype), None);
        }
    }
}
