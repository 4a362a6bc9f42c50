//! The ops and functions that a graph can use.

use std::ffi::CString;
use std::ptr::NonNull;

use sp_abi::grappler::{
    TF_DeleteFunctionLibraryDefinition, TF_FunctionLibraryDefinition, TF_LookUpOpDef,
    TF_NewFunctionLibraryDefinition,
};
use sp_abi::tf_buffer::TF_Buffer;
use sp_runtime::Status;

use super::buffer;
use crate::{Error, Result};

/// A graph's functions, and all ops that TensorFlow knows.
pub struct Functions(NonNull<TF_FunctionLibraryDefinition>);

impl Functions {
    /// # Safety
    /// `graph` is a live buffer.
    pub(super) unsafe fn of(graph: *const TF_Buffer) -> Result<Self> {
        let (new, status) = (TF_NewFunctionLibraryDefinition.get()?, Status::new()?);
        // SAFETY: the caller vouches for the buffer, which is only read during the call. The parameter is
        // const from 2.10 on.
        let library = unsafe { new(graph.cast_mut(), status.as_ptr()) };
        status.check()?;
        let none = || Error::internal("TensorFlow made no function library");
        NonNull::new(library).map(Self).ok_or_else(none)
    }

    /// The definition of the op or function called `name`: a serialized `OpDef`.
    ///
    /// # Errors
    /// Where there is none.
    pub fn op_def(&self, name: &str) -> Result<Vec<u8>> {
        let text = CString::new(name);
        let text = text.map_err(|_| Error::invalid_argument("an op's name has a NUL in it"))?;
        let (look_up, status, found) = (TF_LookUpOpDef.get()?, Status::new()?, buffer::Own::new()?);
        // SAFETY: library, name and buffer are live, and the buffer is empty.
        unsafe {
            look_up(
                self.0.as_ptr(),
                text.as_ptr(),
                found.as_ptr(),
                status.as_ptr(),
            )
        };
        status.check()?;
        Ok(found.bytes().to_vec())
    }
}

impl Drop for Functions {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteFunctionLibraryDefinition.get() {
            // SAFETY: ours, live, and not used again.
            unsafe { delete(self.0.as_ptr()) }
        }
    }
}
