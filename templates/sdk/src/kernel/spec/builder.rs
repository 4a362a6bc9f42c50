//! `TF_KernelBuilder`: a kernel's description until TensorFlow registers it.

use std::ffi::{CStr, c_void};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use sp_abi::kernels::TF_KernelBuilder_Label; // since 2.11
use sp_abi::kernels::{TF_AsyncOpKernelDoneCallback, TF_NewAsyncKernelBuilder}; // since 2.13
use sp_abi::kernels::{
    TF_DeleteKernelBuilder, TF_KernelBuilder, TF_KernelBuilder_HostMemory,
    TF_KernelBuilder_Priority, TF_KernelBuilder_TypeConstraint, TF_NewKernelBuilder,
    TF_OpKernelConstruction, TF_OpKernelContext, TF_RegisterKernelBuilder,
};
use sp_abi::tf_datatype::TF_DataType;

use crate::status::with_status;
use crate::{Error, Result};

/// A function that constructs a kernel.
pub(in crate::kernel) type CreateCall =
    unsafe extern "C" fn(*mut TF_OpKernelConstruction) -> *mut c_void;

/// A function that computes one call of the kernel whose instance it gets.
pub(in crate::kernel) type ComputeCall = unsafe extern "C" fn(*mut c_void, *mut TF_OpKernelContext);

// since 2.13
/// A function that computes one call, and runs the function that it gets when the call has ended.
type AsynchronousComputeCall =
    unsafe extern "C" fn(*mut c_void, *mut TF_OpKernelContext, *mut TF_AsyncOpKernelDoneCallback);

/// A function that deletes an instance of a kernel.
type DeleteCall = unsafe extern "C" fn(*mut c_void);

/// The description of a kernel that is about to be registered, for `#[kernel(.., configure = function)]`.
// Dropping it deletes it; `register` transfers it to TensorFlow.
pub struct KernelBuilder(NonNull<TF_KernelBuilder>);

impl KernelBuilder {
    /// Creates the description of a kernel of these functions.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow creates none.
    ///
    /// # Safety
    /// - `compute` and `delete` accept what `create` returns, also null.
    pub(in crate::kernel) unsafe fn from_functions(
        op: &CStr,
        device_type: &CStr,
        (create, compute, delete): (CreateCall, ComputeCall, DeleteCall),
    ) -> Result<Self> {
        let (op, device_type) = (op.as_ptr(), device_type.as_ptr());
        let new = TF_NewKernelBuilder.get()?;
        // SAFETY: the names are C strings, which TensorFlow copies; the caller guarantees the functions.
        Self::from_raw(unsafe { new(op, device_type, Some(create), Some(compute), Some(delete)) })
    }

    // since 2.13
    /// Creates the description of a kernel whose `compute` runs TensorFlow's `done` function when the call has ended.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow creates none.
    ///
    /// # Safety
    /// - `compute` and `delete` accept what `create` returns, also null.
    pub(in crate::kernel) unsafe fn from_asynchronous_functions(
        op: &CStr,
        device_type: &CStr,
        (create, compute, delete): (CreateCall, AsynchronousComputeCall, DeleteCall),
    ) -> Result<Self> {
        let (op, device_type) = (op.as_ptr(), device_type.as_ptr());
        let new = TF_NewAsyncKernelBuilder.get()?;
        // SAFETY: as in `from_functions`.
        Self::from_raw(unsafe { new(op, device_type, Some(create), Some(compute), Some(delete)) })
    }

    fn from_raw(builder: *mut TF_KernelBuilder) -> Result<Self> {
        let none = || Error::resource_exhausted("TensorFlow created no kernel builder");
        NonNull::new(builder).map(Self).ok_or_else(none)
    }

    /// Restricts a type attribute.
    pub(in crate::kernel) fn constrain(&self, attribute: &CStr, dtype: TF_DataType) -> Result<()> {
        let constrain = TF_KernelBuilder_TypeConstraint.get()?;
        // SAFETY: builder and status are live, and TensorFlow copies the name.
        with_status(|status| unsafe {
            constrain(self.0.as_ptr(), attribute.as_ptr(), dtype, status)
        })
    }

    /// Places an argument in host memory.
    pub(in crate::kernel) fn place_in_host_memory(&self, argument: &CStr) -> Result<()> {
        let place = TF_KernelBuilder_HostMemory.get()?;
        // SAFETY: the builder is live, and TensorFlow copies the name.
        unsafe { place(self.0.as_ptr(), argument.as_ptr()) };
        Ok(())
    }

    /// Sets the priority.
    pub(in crate::kernel) fn set_priority(&self, priority: i32) -> Result<()> {
        let set = TF_KernelBuilder_Priority.get()?;
        // SAFETY: the builder is live.
        unsafe { set(self.0.as_ptr(), priority) };
        Ok(())
    }

    // since 2.11
    /// Sets the label.
    pub(in crate::kernel) fn set_label(&self, label: &CStr) -> Result<()> {
        let set = TF_KernelBuilder_Label.get()?;
        // SAFETY: the builder is live, and TensorFlow copies the label.
        unsafe { set(self.0.as_ptr(), label.as_ptr()) };
        Ok(())
    }

    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// - The caller neither deletes nor registers the builder, and uses it only while `self` lives.
    /// - It changes neither the constraints nor the memory of arguments: parameters rely on them.
    pub unsafe fn as_raw(&self) -> *mut TF_KernelBuilder {
        self.0.as_ptr()
    }

    /// Registers the kernel.
    ///
    /// # Errors
    /// Returns an error if TensorFlow rejects it.
    pub(in crate::kernel) fn register(self, op: &CStr) -> Result<()> {
        let register = TF_RegisterKernelBuilder.get()?;
        let builder = ManuallyDrop::new(self);
        // SAFETY: builder and status are live. TensorFlow owns the builder from here on, also if it reports an error.
        with_status(|status| unsafe { register(op.as_ptr(), builder.0.as_ptr(), status) })
    }
}

impl Drop for KernelBuilder {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteKernelBuilder.get() {
            // SAFETY: owned, live, and not used again.
            unsafe { delete(self.0.as_ptr()) }
        }
    }
}
