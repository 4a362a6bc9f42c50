//! An op's attributes, read once when TensorFlow makes the kernel.

use std::ffi::CStr;
use std::marker::PhantomData;

use sp_abi::kernels::{
    TF_OpKernelConstruction, TF_OpKernelConstruction_GetAttrBool,
    TF_OpKernelConstruction_GetAttrFloat, TF_OpKernelConstruction_GetAttrInt32,
    TF_OpKernelConstruction_GetAttrInt64, TF_OpKernelConstruction_GetAttrInt64List,
    TF_OpKernelConstruction_GetAttrSize, TF_OpKernelConstruction_GetAttrString,
    TF_OpKernelConstruction_GetAttrType, TF_OpKernelConstruction_HasAttr,
};
use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::Status;

use crate::{Error, Result, limit};

/// What a kernel reads of its node. Derive it: each field is an attribute, by name.
pub trait Attributes: Sized + Send + Sync + 'static {
    /// Reads the attributes.
    ///
    /// # Errors
    /// Where one is absent or of another type.
    fn read(construction: &Construction<'_>) -> Result<Self>;
}

impl Attributes for () {
    fn read(_: &Construction<'_>) -> Result<Self> {
        Ok(())
    }
}

/// A kernel in the making.
pub struct Construction<'a> {
    raw: *mut TF_OpKernelConstruction,
    status: Status,
    lent: PhantomData<&'a ()>,
}

impl Construction<'_> {
    /// # Safety
    /// `raw` is live for the value's life.
    pub(super) unsafe fn new(raw: *mut TF_OpKernelConstruction) -> Result<Self> {
        Ok(Self {
            raw,
            status: Status::new()?,
            lent: PhantomData,
        })
    }

    /// The attribute called `name`.
    ///
    /// # Errors
    /// Where it is absent or of another type.
    pub fn attribute<A: FromAttribute>(&self, name: &CStr) -> Result<A> {
        A::read(self, name)
    }

    /// The lengths of an attribute: its list's, and its text's in bytes.
    fn size(&self, name: &CStr) -> Result<(usize, usize)> {
        let (mut list, mut total) = (0, 0);
        let size = TF_OpKernelConstruction_GetAttrSize.get()?;
        // SAFETY: the construction is live, and both places are ours.
        unsafe {
            size(
                self.raw,
                name.as_ptr(),
                &mut list,
                &mut total,
                self.status.as_ptr(),
            )
        };
        self.status.check()?;
        let count = |stated: i32| limit::check_count(format_args!("attribute {name:?}"), stated);
        Ok((count(list)?, count(total)?))
    }
}

/// A type that an attribute can have.
pub trait FromAttribute: Sized {
    /// Reads the attribute called `name`.
    ///
    /// # Errors
    /// Where it is absent or of another type.
    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self>;
}

macro_rules! scalars {
    ($($ty:ty: $get:ident as $raw:ty => |$value:ident| $convert:expr;)*) => {$(
        impl FromAttribute for $ty {
            fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
                let mut $value = <$raw>::default();
                let (get, status) = ($get.get()?, construction.status.as_ptr());
                // SAFETY: the construction is live, and the place is ours and of the right type.
                unsafe { get(construction.raw, name.as_ptr(), &raw mut $value, status) };
                construction.status.check()?;
                Ok($convert)
            }
        }
    )*};
}

scalars! {
    bool: TF_OpKernelConstruction_GetAttrBool as u8 => |value| value != 0;
    i32: TF_OpKernelConstruction_GetAttrInt32 as i32 => |value| value;
    i64: TF_OpKernelConstruction_GetAttrInt64 as i64 => |value| value;
    f32: TF_OpKernelConstruction_GetAttrFloat as f32 => |value| value;
}

/// An attribute that ops of older releases lack.
impl<A: FromAttribute> FromAttribute for Option<A> {
    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
        let (has, status) = (TF_OpKernelConstruction_HasAttr.get()?, &construction.status);
        // SAFETY: the construction is live, and the name a C string.
        let has = unsafe { has(construction.raw, name.as_ptr(), status.as_ptr()) };
        status.check()?;
        has.then(|| A::read(construction, name)).transpose()
    }
}

impl FromAttribute for TF_DataType {
    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
        let mut value = TF_DataType(0);
        let get = TF_OpKernelConstruction_GetAttrType.get()?;
        let status = construction.status.as_ptr();
        // SAFETY: the construction is live, and the place is ours.
        unsafe { get(construction.raw, name.as_ptr(), &raw mut value, status) };
        construction.status.check()?;
        Ok(value)
    }
}

impl FromAttribute for String {
    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
        let (_, bytes) = construction.size(name)?;
        let mut text = vec![0_u8; bytes];
        let get = TF_OpKernelConstruction_GetAttrString.get()?;
        let status = construction.status.as_ptr();
        // SAFETY: the construction is live, and `text` holds `bytes`.
        unsafe {
            get(
                construction.raw,
                name.as_ptr(),
                text.as_mut_ptr().cast(),
                bytes,
                status,
            )
        };
        construction.status.check()?;
        String::from_utf8(text)
            .map_err(|_| Error::invalid_argument(format!("{name:?} is not UTF-8")))
    }
}

impl FromAttribute for Vec<i64> {
    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
        let (len, _) = construction.size(name)?;
        let mut list = vec![0_i64; len];
        let get = TF_OpKernelConstruction_GetAttrInt64List.get()?;
        let count = len.try_into().unwrap_or(i32::MAX);
        let status = construction.status.as_ptr();
        // SAFETY: the construction is live, and `list` holds `count`.
        unsafe {
            get(
                construction.raw,
                name.as_ptr(),
                list.as_mut_ptr(),
                count,
                status,
            )
        };
        construction.status.check()?;
        Ok(list)
    }
}
