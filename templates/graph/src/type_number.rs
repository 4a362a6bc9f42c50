//! Element types in messages.

/// The number of an element type in TensorFlow's messages, which is that of the C API's `TF_DataType`:
/// `TypeNumber(DataType::TF_FLOAT.0)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeNumber(pub u32);

impl TypeNumber {
    pub(crate) const INT32: Self = Self(3);
    pub(crate) const INT64: Self = Self(9);
    pub(crate) const UINT64: Self = Self(23);
}

#[cfg(test)]
impl TypeNumber {
    pub(crate) const FLOAT: Self = Self(1);
    pub(crate) const DOUBLE: Self = Self(2);
    pub(crate) const HALF: Self = Self(19);
}
