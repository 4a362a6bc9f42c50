//! Tensors as attributes, such as the value of a Const.

use std::ffi::CStr;

use sp_abi::kernels::{
    TF_OpKernelConstruction_GetAttrTensor, TF_OpKernelConstruction_GetAttrTensorList,
};
use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_tensor::TF_Tensor;
use std::slice;

use super::{AttributeParameter, Construction, FromAttribute, no_default};
use crate::dims::Dims;
use crate::kernel::marker;
use crate::kernel::spec::optional::reads_by;
use crate::kernel::spec::{DefaultValue, Kind};
use crate::tensor::{Tensor, address, byte_len};
use crate::{Element, Result};

/// A tensor in host memory that does not change: the value of an attribute.
pub struct TensorValue {
    tensor: Tensor,
    dims: Dims,
}

// SAFETY: the value is only read, and TensorFlow's tensors may be read and deleted on any thread.
unsafe impl Send for TensorValue {}
// SAFETY: as above: no method changes the tensor.
unsafe impl Sync for TensorValue {}

impl TensorValue {
    /// Takes a tensor in host memory, which nobody changes.
    pub(in crate::kernel) fn new(tensor: Tensor) -> Result<Self> {
        let dims = tensor.dims()?;
        Ok(Self { tensor, dims })
    }

    /// Returns the shape.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Returns the element type.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for it.
    pub fn dtype(&self) -> Result<TF_DataType> {
        self.tensor.dtype()
    }

    /// Returns the elements in row-major order.
    ///
    /// # Errors
    /// Returns an error if they are of another type.
    pub fn data<T: Element>(&self) -> Result<&[T]> {
        self.tensor.require_type(T::DTYPE)?;
        let len = byte_len::<T>(&self.dims)? / size_of::<T>();
        let start = address::<T>(self.tensor.data()?, len)?;
        // SAFETY: `address` has checked the alignment. The tensor is of type `T` and in host memory, has as many elements
        // as its shape, and lives as long as `self`. Any bytes are values of an `Element`, and nobody changes them.
        Ok(unsafe { slice::from_raw_parts(start.as_ptr(), len) })
    }
}

impl TensorValue {
    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// - The caller does not delete the tensor, and uses it only while `self` lives.
    /// - The caller does not write to it.
    pub unsafe fn as_raw(&self) -> *mut TF_Tensor {
        self.tensor.as_ptr()
    }
}

impl FromAttribute for TensorValue {
    const KIND: Kind = Kind::Tensor;

    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
        Self::new(construction.raw.tensor(name)?)
    }

    fn from_default(_: DefaultValue) -> Result<Self> {
        Err(no_default())
    }

    reads_by!(TF_OpKernelConstruction_GetAttrTensor);
}

borrowed_parameter!(TensorValue as TensorValue: marker::Tensor);

list_attribute!(TensorValue: TensorList, marker::Tensor, TF_OpKernelConstruction_GetAttrTensorList, |raw, name| {
    raw.tensors(name)?.into_iter().map(TensorValue::new).collect()
});
