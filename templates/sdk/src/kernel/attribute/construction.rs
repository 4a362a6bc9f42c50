//! `TF_OpKernelConstruction`: a node whose kernel TensorFlow constructs.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::ptr;
use std::slice;
use std::sync::Arc;

use sp_abi::kernels::TF_OpKernelConstruction_GetNodeDef; // since 2.11
use sp_abi::kernels::{
    TF_OpKernelConstruction, TF_OpKernelConstruction_Failure, TF_OpKernelConstruction_GetAttrBool,
    TF_OpKernelConstruction_GetAttrBoolList, TF_OpKernelConstruction_GetAttrFloat,
    TF_OpKernelConstruction_GetAttrFloatList, TF_OpKernelConstruction_GetAttrInt64,
    TF_OpKernelConstruction_GetAttrInt64List, TF_OpKernelConstruction_GetAttrSize,
    TF_OpKernelConstruction_GetAttrString, TF_OpKernelConstruction_GetAttrStringList,
    TF_OpKernelConstruction_GetAttrType, TF_OpKernelConstruction_GetAttrTypeList,
    TF_OpKernelConstruction_GetName,
};
// since 2.8
use sp_abi::kernels::{
    TF_OpKernelConstruction_GetAttrTensor, TF_OpKernelConstruction_GetAttrTensorList,
};
use sp_abi::kernels_experimental::TF_OpKernelConstruction_GetAttrTensorShape; // since 2.6
use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::Status;

use super::node_def::NodeDef; // since 2.11
use super::shape::PartialShape; // since 2.6
use crate::c_string;
use crate::graph::OwnedBuffer; // since 2.11
use crate::limit::c_index;
use crate::status::with_status;
use crate::tensor::Tensor;
use crate::{Error, Result, limit};

/// A borrowed construction.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct ConstructionRef<'c> {
    raw: *mut TF_OpKernelConstruction,
    borrowed: PhantomData<&'c ()>,
}

macro_rules! scalars {
    ($($name:ident = $function:ident as $ty:ty;)*) => {$(
        pub fn $name(self, name: &CStr) -> Result<$ty> {
            let mut value = <$ty>::default();
            let get = $function.get()?;
            // SAFETY: construction, name and status are live, and the value is of the function's type.
            with_status(|status| unsafe { get(self.raw, name.as_ptr(), (&raw mut value).cast(), status) })?;
            Ok(value)
        }
    )*};
}

macro_rules! lists {
    ($($name:ident = $function:ident as $ty:ty, $zero:expr;)*) => {$(
        pub fn $name(self, name: &CStr) -> Result<Vec<$ty>> {
            let (len, _) = self.sizes(name)?;
            let (mut values, count, get) = (vec![$zero; len], c_index(len)?, $function.get()?);
            with_status(|status| {
                // SAFETY: construction, name and status are live, and `values` has `count` items of the function's type.
                unsafe { get(self.raw, name.as_ptr(), values.as_mut_ptr().cast(), count, status) }
            })?;
            Ok(values)
        }
    )*};
}

impl ConstructionRef<'_> {
    /// # Safety
    /// `raw` is live during the value's lifetime.
    pub unsafe fn from_raw(raw: *mut TF_OpKernelConstruction) -> Self {
        Self {
            raw,
            borrowed: PhantomData,
        }
    }

    /// Returns the name of the node.
    pub fn node_name(self) -> Result<Arc<str>> {
        let get = TF_OpKernelConstruction_GetName.get()?;
        // SAFETY: the construction is live.
        let name = unsafe { get(self.raw) };
        if name.data.is_null() {
            return Ok(Arc::default());
        }
        // SAFETY: TensorFlow lends the characters during the construction.
        let bytes = unsafe { slice::from_raw_parts(name.data.cast::<u8>(), name.len) };
        Ok(String::from_utf8_lossy(bytes).into())
    }

    /// Returns the C object.
    pub fn as_ptr(self) -> *mut TF_OpKernelConstruction {
        self.raw
    }

    scalars! {
        bool_byte = TF_OpKernelConstruction_GetAttrBool as u8;
        int = TF_OpKernelConstruction_GetAttrInt64 as i64;
        float = TF_OpKernelConstruction_GetAttrFloat as f32;
        type_number = TF_OpKernelConstruction_GetAttrType as u32;
    }

    lists! {
        bool_bytes = TF_OpKernelConstruction_GetAttrBoolList as u8, 0;
        ints = TF_OpKernelConstruction_GetAttrInt64List as i64, 0;
        floats = TF_OpKernelConstruction_GetAttrFloatList as f32, 0.0;
        types = TF_OpKernelConstruction_GetAttrTypeList as TF_DataType, TF_DataType(0);
    }

    pub fn text(self, name: &CStr) -> Result<String> {
        let (_, bytes) = self.sizes(name)?;
        let (mut text, get) = (
            vec![0_u8; bytes],
            TF_OpKernelConstruction_GetAttrString.get()?,
        );
        // SAFETY: construction, name and status are live, and `text` has `bytes` bytes.
        with_status(|status| unsafe {
            get(
                self.raw,
                name.as_ptr(),
                text.as_mut_ptr().cast(),
                bytes,
                status,
            )
        })?;
        into_text(name, text)
    }

    pub fn texts(self, name: &CStr) -> Result<Vec<String>> {
        let (len, bytes) = self.sizes(name)?;
        let mut storage = vec![0_u8; bytes];
        let (mut starts, mut lens) = (
            vec![std::ptr::null_mut::<c_char>(); len],
            vec![0_usize; len],
        );
        let (get, count) = (
            TF_OpKernelConstruction_GetAttrStringList.get()?,
            c_index(len)?,
        );
        with_status(|status| {
            let (starts, lens) = (starts.as_mut_ptr(), lens.as_mut_ptr());
            let storage = storage.as_mut_ptr().cast();
            // SAFETY: construction, name and status are live; both lists have `count` items, and `storage` has `bytes`.
            unsafe {
                get(
                    self.raw,
                    name.as_ptr(),
                    starts,
                    lens,
                    count,
                    storage,
                    bytes,
                    status,
                )
            }
        })?;
        let texts = c_string::texts_in(&storage, &starts, &lens);
        texts.map(|bytes| into_text(name, bytes.to_vec())).collect()
    }

    // since 2.11
    /// Returns the node.
    pub fn node_def(self) -> Result<NodeDef> {
        let get = TF_OpKernelConstruction_GetNodeDef.get()?;
        // SAFETY: construction and status are live.
        let buffer = with_status(|status| unsafe { get(self.raw, status) })?;
        // SAFETY: the caller owns the return value, which nobody else changes.
        unsafe { OwnedBuffer::from_raw(buffer) }.map(NodeDef::new)
    }

    // since 2.6
    /// Returns a shape whose dimensions are all known, or the shape of unknown rank.
    pub fn shape(self, name: &CStr) -> Result<PartialShape> {
        let (_, rank) = self.raw_sizes(name)?;
        let Ok(rank) = usize::try_from(rank) else {
            return Ok(PartialShape::unknown_rank());
        };
        let rank = limit::check_count(format_args!("attribute {name:?}"), rank)?;
        let (mut dims, get) = (
            vec![0; rank],
            TF_OpKernelConstruction_GetAttrTensorShape.get()?,
        );
        with_status(|status| {
            // SAFETY: construction, name and status are live, and `dims` has `rank` items.
            unsafe { get(self.raw, name.as_ptr(), dims.as_mut_ptr(), rank, status) }
        })?;
        PartialShape::from_sizes(&dims)
    }

    // since 2.8
    /// Returns a tensor.
    pub fn tensor(self, name: &CStr) -> Result<Tensor> {
        let (mut tensor, get) = (
            ptr::null_mut(),
            TF_OpKernelConstruction_GetAttrTensor.get()?,
        );
        // SAFETY: construction, name and status are live.
        with_status(|status| unsafe { get(self.raw, name.as_ptr(), &raw mut tensor, status) })?;
        // SAFETY: the caller owns the tensor.
        unsafe { Tensor::from_raw(tensor) }
    }

    // since 2.8
    /// Returns the tensors of a list.
    pub fn tensors(self, name: &CStr) -> Result<Vec<Tensor>> {
        let (len, _) = self.sizes(name)?;
        let get = TF_OpKernelConstruction_GetAttrTensorList.get()?;
        let (mut tensors, count) = (vec![ptr::null_mut(); len], c_index(len)?);
        let read = with_status(|status| {
            // SAFETY: construction, name and status are live, and `tensors` has `count` items.
            unsafe { get(self.raw, name.as_ptr(), tensors.as_mut_ptr(), count, status) }
        });
        // SAFETY: the caller owns the tensors that are not null. All are taken, so that an error leaks none.
        let tensors: Vec<_> = tensors
            .into_iter()
            .map(|it| unsafe { Tensor::from_raw(it) })
            .collect();
        read?;
        tensors.into_iter().collect()
    }

    /// Returns the length of a list, and the size of a text in bytes.
    pub fn sizes(self, name: &CStr) -> Result<(usize, usize)> {
        let (list, total) = self.raw_sizes(name)?;
        let count = |stated: i32| limit::check_count(format_args!("attribute {name:?}"), stated);
        Ok((count(list)?, count(total)?))
    }

    /// Returns the sizes as TensorFlow states them: -1 if the attribute has no such size.
    fn raw_sizes(self, name: &CStr) -> Result<(i32, i32)> {
        let (mut list, mut total) = (0, 0);
        let get = TF_OpKernelConstruction_GetAttrSize.get()?;
        // SAFETY: construction, name and status are live.
        with_status(|status| unsafe {
            get(
                self.raw,
                name.as_ptr(),
                &raw mut list,
                &raw mut total,
                status,
            )
        })?;
        Ok((list, total))
    }

    /// Reports that the construction failed.
    pub fn fail(self, error: &Error) -> Result<()> {
        let (fail, status) = (
            TF_OpKernelConstruction_Failure.get()?,
            Status::from_error(error)?,
        );
        // SAFETY: construction and status are live; TensorFlow copies the status.
        unsafe { fail(self.raw, status.as_ptr()) };
        Ok(())
    }
}

fn into_text(name: &CStr, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes)
        .map_err(|_| Error::invalid_argument(format!("attribute {name:?} is not UTF-8")))
}
