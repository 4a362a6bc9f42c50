//! Tensors of strings. They are in host memory, and TensorFlow's functions read and write each string, so that it
//! alone knows the layout and frees the text.
//!
//! No layout of `TF_TString` is assumed but its size. The bytes of an argument of any type are accessible only if its
//! elements are numbers: strings, resources and variants contain pointers.

use std::ffi::c_char;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;

use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_tstring::{TF_StringCopy, TF_StringGetDataPointer, TF_StringGetSize, TF_TString};

use super::input::{FromInput, HostElement, HostIn};
use super::output::{FromOutput, HostOut};
use crate::dims::Dims;
use crate::kernel::call::{InputArgument, OutputTarget};
use crate::kernel::marker::Text;
use crate::kernel::spec::optional::needs;
use crate::tensor::{Tensor, address, byte_len};
use crate::{Error, Result};

impl HostElement for Text {
    type Tensor<'c> = Strings;
}

type GetData = unsafe extern "C-unwind" fn(*const TF_TString) -> *const c_char;
type GetSize = unsafe extern "C-unwind" fn(*const TF_TString) -> usize;

/// A tensor of strings in host memory.
pub struct Strings {
    tensor: Tensor,
    dims: Dims,
    start: NonNull<TF_TString>,
    len: usize,
    functions: (GetData, GetSize),
}

impl Strings {
    /// Takes a tensor in host memory, which nobody changes.
    ///
    /// # Errors
    /// Returns an error if it is not one of strings, or if the running TensorFlow has no functions for strings.
    pub(super) fn new(tensor: Tensor) -> Result<Self> {
        let functions = (TF_StringGetDataPointer.get()?, TF_StringGetSize.get()?);
        let dims = tensor.dims()?;
        let (start, len) = elements(&tensor, &dims)?;
        Ok(Self {
            tensor,
            dims,
            start,
            len,
            functions,
        })
    }

    /// Returns string `index`. It need not be UTF-8.
    ///
    /// # Panics
    /// Panics if there is no such string.
    fn get(&self, index: usize) -> &[u8] {
        assert!(index < self.len, "string {index} of {}", self.len);
        let (data, size) = self.functions;
        // SAFETY: the tensor has `len` strings from `start` on, which live and do not change as long as `self`.
        let (data, size) = unsafe {
            let string = self.start.as_ptr().add(index);
            (data(string), size(string))
        };
        match data.is_null() || size == 0 {
            true => &[],
            // SAFETY: a string has `size` readable bytes at `data`.
            false => unsafe { slice::from_raw_parts(data.cast(), size) },
        }
    }
}

/// Returns the address of a tensor's strings, and their number.
fn elements(tensor: &Tensor, dims: &[usize]) -> Result<(NonNull<TF_TString>, usize)> {
    tensor.require_type(TF_DataType::TF_STRING)?;
    let (expected, found) = (byte_len::<TF_TString>(dims)?, tensor.bytes()?);
    if expected != found {
        let message = format!("strings of shape {dims:?} in {found} bytes, expected {expected}");
        return Err(Error::internal(message));
    }
    // The address of an empty tensor need not be aligned.
    let start = match expected {
        0 => NonNull::dangling(),
        _ => address(tensor.data()?, expected)?,
    };
    Ok((start, expected / size_of::<TF_TString>()))
}

impl HostIn<'_, Text> {
    /// Returns the shape.
    pub fn dims(&self) -> &[usize] {
        &self.0.dims
    }

    len_methods!("strings", self => self.0.len);

    /// Returns string `index` in row-major order. It need not be UTF-8.
    ///
    /// # Panics
    /// Panics if there is no such string.
    pub fn get(&self, index: usize) -> &[u8] {
        self.0.get(index)
    }

    /// Returns the strings in row-major order. They need not be UTF-8.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Returns the only string.
    ///
    /// # Errors
    /// Returns an error if there is not exactly one.
    pub fn scalar(&self) -> Result<&[u8]> {
        let dims = self.dims();
        let not_one = || format!("expected one string, got a tensor of shape {dims:?}");
        match self.len() {
            1 => Ok(self.get(0)),
            _ => Err(Error::invalid_argument(not_one())),
        }
    }

    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// - The caller does not delete the tensor, and uses it only while `self` lives.
    /// - The caller does not change the strings.
    pub unsafe fn as_raw(&self) -> *mut sp_abi::tf_tensor::TF_Tensor {
        self.0.tensor.as_ptr()
    }
}

// SAFETY: the input is read as strings, in host memory.
unsafe impl<'c> FromInput<'c, Text> for HostIn<'c, Text> {
    const HOST: bool = true;
    const HAS_HOST_ACCESS: bool = false;

    needs!(TF_StringGetDataPointer, TF_StringGetSize);

    fn from_input(input: InputArgument<'c>) -> Result<Self> {
        Strings::new(input.source().tensor()?).map(Self)
    }
}

/// An output of strings that TensorFlow has allocated, all of them empty at first.
///
/// The type has the call's lifetime, since TensorFlow reads the strings after it.
pub struct OutStrings<'c> {
    tensor: Tensor,
    start: NonNull<TF_TString>,
    len: usize,
    copy: unsafe extern "C-unwind" fn(*mut TF_TString, *const c_char, usize),
    call: PhantomData<&'c ()>,
}

impl OutStrings<'_> {
    len_methods!("strings", self => self.len);

    /// Replaces string `index` by a copy of `text`.
    ///
    /// # Panics
    /// Panics if there is no such string.
    pub fn set(&mut self, index: usize, text: impl AsRef<[u8]>) {
        assert!(index < self.len, "string {index} of {}", self.len);
        let text = text.as_ref();
        // SAFETY: the tensor has `len` initialized strings from `start` on, and is an output that nobody else has.
        // TensorFlow copies the text, and frees the former and, later, the new one.
        unsafe {
            let string = self.start.as_ptr().add(index);
            (self.copy)(string, text.as_ptr().cast(), text.len());
        }
    }

    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// - The caller does not delete the tensor, and uses it only while `self` lives.
    /// - The strings stay initialized.
    pub unsafe fn as_raw(&self) -> *mut sp_abi::tf_tensor::TF_Tensor {
        self.tensor.as_ptr()
    }
}

impl<'c> HostOut<'c, Text> {
    /// Allocates the output. Its strings are empty.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory, or if the running TensorFlow has no functions for strings.
    pub fn empty_strings(self, dims: &[usize]) -> Result<OutStrings<'c>> {
        let copy = TF_StringCopy.get()?;
        let tensor = self.target().allocate(TF_DataType::TF_STRING, dims)?;
        let (start, len) = elements(&tensor, dims)?;
        Ok(OutStrings {
            tensor,
            start,
            len,
            copy,
            call: PhantomData,
        })
    }

    /// Allocates the output, and writes `f(i)` to each string `i`.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory, or if the running TensorFlow has no functions for strings.
    pub fn write_with<S: AsRef<[u8]>>(self, dims: &[usize], f: impl Fn(usize) -> S) -> Result<()> {
        let mut strings = self.empty_strings(dims)?;
        (0..strings.len()).for_each(|index| strings.set(index, f(index)));
        Ok(())
    }
}

// SAFETY: `HostOut<'_, Text>` writes strings, in host memory.
unsafe impl<'c> FromOutput<'c, Text> for HostOut<'c, Text> {
    const HOST: bool = true;
    const HAS_HOST_ACCESS: bool = false;

    needs!(TF_StringCopy);

    fn from_output(target: OutputTarget<'c>) -> Self {
        Self::new(target)
    }
}
