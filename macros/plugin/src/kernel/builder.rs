//! `TF_KernelBuilder`: a kernel's description until TensorFlow registers it.

use std::ffi::CStr;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use sp_abi::kernels::{
    TF_DeleteKernelBuilder, TF_KernelBuilder, TF_NewKernelBuilder, TF_RegisterKernelBuilder,
};
use sp_runtime::Status;

use super::entry::Callbacks;
use crate::{Error, Result};

/// An owned builder. Dropping it deletes it; [`register`](Builder::register) transfers it to TensorFlow.
pub(super) struct Builder(NonNull<TF_KernelBuilder>);

impl Builder {
    /// Creates the description of a kernel of `op` on devices of this type.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow creates none.
    pub fn new(op: &CStr, device_type: &CStr, callbacks: Callbacks) -> Result<Self> {
        let new = TF_NewKernelBuilder.get()?;
        let Callbacks {
            create,
            compute,
            delete,
        } = callbacks;
        let (create, compute, delete) = (Some(create), Some(compute), Some(delete));
        // SAFETY: names are C strings, which TensorFlow copies; the callbacks belong together.
        let builder = unsafe { new(op.as_ptr(), device_type.as_ptr(), create, compute, delete) };
        let none = || Error::resource_exhausted("TensorFlow created no kernel builder");
        NonNull::new(builder).map(Self).ok_or_else(none)
    }

    /// Returns the builder for a C call. It stays owned.
    pub fn as_ptr(&self) -> *mut TF_KernelBuilder {
        self.0.as_ptr()
    }

    /// Registers the kernel.
    ///
    /// # Errors
    /// Returns an error if TensorFlow rejects it.
    pub fn register(self, op: &CStr, status: &Status) -> Result<()> {
        let register = TF_RegisterKernelBuilder.get()?;
        let builder = ManuallyDrop::new(self);
        // SAFETY: the builder is live. TensorFlow owns it from here on, also if it reports an error.
        unsafe { register(op.as_ptr(), builder.as_ptr(), status.as_ptr()) };
        status.check()
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteKernelBuilder.get() {
            // SAFETY: owned, live, and not used again.
            unsafe { delete(self.as_ptr()) }
        }
    }
}
