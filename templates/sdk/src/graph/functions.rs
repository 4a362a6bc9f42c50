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

/// A graph's functions, and all ops that are registered in TensorFlow.
pub struct Functions(NonNull<TF_FunctionLibraryDefinition>);

impl Functions {
    /// Creates the function library of a graph.
    ///
    /// # Safety
    /// - `graph` is a live buffer that no other code changes during the call.
    pub(super) unsafe fn new(graph: *const TF_Buffer) -> Result<Self> {
        let (new, status) = (TF_NewFunctionLibraryDefinition.get()?, Status::new()?);
        // SAFETY: the caller guarantees that the buffer is live, and `status` is. TensorFlow only reads the
        // buffer, during the call; the parameter is const from 2.10 on.
        let library = unsafe { new(graph.cast_mut(), status.as_ptr()) };
        status.check()?;
        let absent = || Error::internal("TensorFlow returned no function library");
        NonNull::new(library).map(Self).ok_or_else(absent)
    }

    /// Returns the definition of the op or function `name`, a serialized `OpDef`.
    ///
    /// # Errors
    /// Returns an error if there is no such op or function.
    pub fn op_def(&self, name: &str) -> Result<Vec<u8>> {
        let text = CString::new(name);
        let text =
            text.map_err(|_| Error::invalid_argument(format!("op name {name:?} contains a NUL")))?;
        let (look_up, status, found) = (
            TF_LookUpOpDef.get()?,
            Status::new()?,
            buffer::OwnedBuffer::new()?,
        );
        // SAFETY: `self` owns the library; name, buffer and status are locals that outlive the call. The buffer
        // is empty, as TensorFlow requires.
        unsafe {
            look_up(
                self.0.as_ptr(),
                text.as_ptr(),
                found.as_ptr(),
                status.as_ptr(),
            )
        };
        status.check()?;
        Ok(found.bytes()?.to_vec())
    }
}

/// Returns true if an op of this name is registered in TensorFlow. A host without the functions for it has none.
pub(crate) fn has_op(name: &str) -> bool {
    let graph = buffer::OwnedBuffer::new();
    // SAFETY: the buffer is live, empty, and no other code has it.
    let functions = graph.and_then(|graph| unsafe { Functions::new(graph.as_ptr()) });
    functions.is_ok_and(|functions| functions.op_def(name).is_ok())
}

impl Drop for Functions {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteFunctionLibraryDefinition.get() {
            // SAFETY: `self` owns the live library, and nothing uses it after the drop.
            unsafe { delete(self.0.as_ptr()) }
        }
    }
}
