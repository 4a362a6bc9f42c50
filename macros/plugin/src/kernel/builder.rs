//! `TF_KernelBuilder`: a kernel's description until TensorFlow registers it.

use std::ffi::CStr;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use sp_abi::kernels::TF_KernelBuilder_Label; // since 2.11
use sp_abi::kernels::{
    TF_DeleteKernelBuilder, TF_KernelBuilder, TF_KernelBuilder_HostMemory,
    TF_KernelBuilder_Priority, TF_KernelBuilder_TypeConstraint, TF_NewKernelBuilder,
    TF_RegisterKernelBuilder,
};
use sp_abi::tf_datatype::TF_DataType;

use super::driver;
use super::spec::Kernel;
use super::status::with_status;
use crate::{Device, Error, Result};

/// An owned builder. Dropping it deletes it; [`register`](Builder::register) transfers it to TensorFlow.
pub(super) struct Builder(NonNull<TF_KernelBuilder>);

impl Builder {
    /// Creates the description of a kernel on devices of this type, without its constraints.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow creates none.
    pub fn new<D: Device>(kernel: &'static Kernel, device_type: &CStr) -> Result<Self> {
        let new = TF_NewKernelBuilder.get()?;
        let (create, compute, delete) = (
            kernel.functions.create,
            driver::compute::<D>,
            driver::delete,
        );
        let (op, device_type) = (kernel.op().as_ptr(), device_type.as_ptr());
        // SAFETY: the names are C strings, which TensorFlow copies; the functions belong together.
        let builder = unsafe { new(op, device_type, Some(create), Some(compute), Some(delete)) };
        let none = || Error::resource_exhausted("TensorFlow created no kernel builder");
        NonNull::new(builder).map(Self).ok_or_else(none)
    }

    /// Restricts a type attribute.
    pub fn constrain(&self, attribute: &CStr, dtype: TF_DataType) -> Result<()> {
        let constrain = TF_KernelBuilder_TypeConstraint.get()?;
        // SAFETY: builder and status are live, and TensorFlow copies the name.
        with_status(|status| unsafe {
            constrain(self.0.as_ptr(), attribute.as_ptr(), dtype, status)
        })
    }

    /// Places an argument in host memory.
    pub fn place_in_host_memory(&self, argument: &CStr) -> Result<()> {
        let place = TF_KernelBuilder_HostMemory.get()?;
        // SAFETY: the builder is live, and TensorFlow copies the name.
        unsafe { place(self.0.as_ptr(), argument.as_ptr()) };
        Ok(())
    }

    /// Sets the priority.
    pub fn set_priority(&self, priority: i32) -> Result<()> {
        let set = TF_KernelBuilder_Priority.get()?;
        // SAFETY: the builder is live.
        unsafe { set(self.0.as_ptr(), priority) };
        Ok(())
    }

    // since 2.11
    /// Sets the label.
    pub fn set_label(&self, label: &CStr) -> Result<()> {
        let set = TF_KernelBuilder_Label.get()?;
        // SAFETY: the builder is live, and TensorFlow copies the label.
        unsafe { set(self.0.as_ptr(), label.as_ptr()) };
        Ok(())
    }

    /// Registers the kernel.
    ///
    /// # Errors
    /// Returns an error if TensorFlow rejects it.
    pub fn register(self, op: &CStr) -> Result<()> {
        let register = TF_RegisterKernelBuilder.get()?;
        let builder = ManuallyDrop::new(self);
        // SAFETY: builder and status are live. TensorFlow owns the builder from here on, also if it reports an error.
        with_status(|status| unsafe { register(op.as_ptr(), builder.0.as_ptr(), status) })
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteKernelBuilder.get() {
            // SAFETY: owned, live, and not used again.
            unsafe { delete(self.0.as_ptr()) }
        }
    }
}
