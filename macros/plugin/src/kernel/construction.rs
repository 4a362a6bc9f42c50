//! `TF_OpKernelConstruction`: a node whose kernel TensorFlow constructs.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

use sp_abi::kernels::{
    TF_OpKernelConstruction, TF_OpKernelConstruction_Failure, TF_OpKernelConstruction_GetAttrBool,
    TF_OpKernelConstruction_GetAttrBoolList, TF_OpKernelConstruction_GetAttrFloat,
    TF_OpKernelConstruction_GetAttrFloatList, TF_OpKernelConstruction_GetAttrInt64,
    TF_OpKernelConstruction_GetAttrInt64List, TF_OpKernelConstruction_GetAttrSize,
    TF_OpKernelConstruction_GetAttrString, TF_OpKernelConstruction_GetAttrStringList,
    TF_OpKernelConstruction_GetAttrType, TF_OpKernelConstruction_GetAttrTypeList,
};
use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::Status;

use super::context::c_index;
use super::status::with_status;
use crate::{Error, Result, limit};

/// A borrowed construction.
#[derive(Clone, Copy)]
pub(super) struct ConstructionRef<'c> {
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
        let base = storage.as_ptr() as usize;
        let text = |(start, len): (&*mut c_char, &usize)| {
            let first = (*start as usize).wrapping_sub(base);
            let bytes = storage.get(first..first.wrapping_add(*len));
            into_text(name, bytes.unwrap_or_default().to_vec())
        };
        starts.iter().zip(&lens).map(text).collect()
    }

    /// Returns the length of a list, and the size of a text in bytes.
    pub fn sizes(self, name: &CStr) -> Result<(usize, usize)> {
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
        let count = |stated: i32| limit::check_count(format_args!("attribute {name:?}"), stated);
        Ok((count(list)?, count(total)?))
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
