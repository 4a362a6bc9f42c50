//! `TF_KernelBuilder`: a kernel's description until TensorFlow registers it.

use std::ffi::{CStr, c_void};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use sp_abi::kernels::TF_KernelBuilder_Label; // since 2.11
use sp_abi::kernels::TF_NewAsyncKernelBuilder; // since 2.13
use sp_abi::kernels::TF_OpKernelConstruction; // since 2.11
use sp_abi::kernels::{
    TF_DeleteKernelBuilder, TF_KernelBuilder, TF_KernelBuilder_HostMemory,
    TF_KernelBuilder_Priority, TF_KernelBuilder_TypeConstraint, TF_NewKernelBuilder,
    TF_RegisterKernelBuilder,
};
use sp_abi::tf_datatype::TF_DataType;

use super::asynchronous; // since 2.13
use super::spec::Kernel;
use super::status::with_status;
use super::{compare, driver};
use crate::{Device, Error, Result};

/// A function that constructs a kernel, and one that deletes it.
pub(super) type CreateCall = unsafe extern "C" fn(*mut TF_OpKernelConstruction) -> *mut c_void; // since 2.11
type DeleteCall = unsafe extern "C" fn(*mut c_void); // since 2.11

/// The description of a kernel that is about to be registered, for `#[kernel(.., configure = function)]`.
// Dropping it deletes it; `register` transfers it to TensorFlow.
pub struct KernelBuilder(NonNull<TF_KernelBuilder>);

impl KernelBuilder {
    /// Creates the description of a kernel on devices of this type, without its constraints.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow creates none.
    pub(super) fn new<D: Device>(kernel: &'static Kernel, device_type: &CStr) -> Result<Self> {
        let (create, delete) = (
            Some(kernel.functions.create as _),
            Some(driver::delete as _),
        );
        let (op, device_type) = (kernel.op().as_ptr(), device_type.as_ptr());
        // since 2.13
        if let (true, Ok(new)) = (
            kernel.options.is_asynchronous,
            TF_NewAsyncKernelBuilder.get(),
        ) {
            let compute = Some(match compare::is_compared(kernel) {
                true => asynchronous::compute_compared::<D> as _,
                false => asynchronous::compute::<D> as _,
            });
            // SAFETY: as below.
            return Self::from_raw(unsafe { new(op, device_type, create, compute, delete) });
        }
        let new = TF_NewKernelBuilder.get()?;
        let compute: driver::ComputeCall = match compare::is_compared(kernel) {
            true => driver::compute_compared::<D>,
            false => driver::compute::<D>,
        };
        let compute = Some(compute);
        // SAFETY: the names are C strings, which TensorFlow copies; the functions belong together.
        Self::from_raw(unsafe { new(op, device_type, create, compute, delete) })
    }

    // since 2.11
    /// Creates the description of a kernel of these functions.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow creates none.
    ///
    /// # Safety
    /// `compute` and `delete` accept what `create` returns, also null.
    pub(super) unsafe fn from_functions(
        op: &CStr,
        device_type: &CStr,
        (create, compute, delete): (CreateCall, driver::ComputeCall, DeleteCall),
    ) -> Result<Self> {
        let (op, device_type, new) = (
            op.as_ptr(),
            device_type.as_ptr(),
            TF_NewKernelBuilder.get()?,
        );
        // SAFETY: the names are C strings, which TensorFlow copies; the caller guarantees the functions.
        Self::from_raw(unsafe { new(op, device_type, Some(create), Some(compute), Some(delete)) })
    }

    fn from_raw(builder: *mut TF_KernelBuilder) -> Result<Self> {
        let none = || Error::resource_exhausted("TensorFlow created no kernel builder");
        NonNull::new(builder).map(Self).ok_or_else(none)
    }

    /// Restricts a type attribute.
    pub(super) fn constrain(&self, attribute: &CStr, dtype: TF_DataType) -> Result<()> {
        let constrain = TF_KernelBuilder_TypeConstraint.get()?;
        // SAFETY: builder and status are live, and TensorFlow copies the name.
        with_status(|status| unsafe {
            constrain(self.0.as_ptr(), attribute.as_ptr(), dtype, status)
        })
    }

    /// Places an argument in host memory.
    pub(super) fn place_in_host_memory(&self, argument: &CStr) -> Result<()> {
        let place = TF_KernelBuilder_HostMemory.get()?;
        // SAFETY: the builder is live, and TensorFlow copies the name.
        unsafe { place(self.0.as_ptr(), argument.as_ptr()) };
        Ok(())
    }

    /// Sets the priority.
    pub(super) fn set_priority(&self, priority: i32) -> Result<()> {
        let set = TF_KernelBuilder_Priority.get()?;
        // SAFETY: the builder is live.
        unsafe { set(self.0.as_ptr(), priority) };
        Ok(())
    }

    // since 2.11
    /// Sets the label.
    pub(super) fn set_label(&self, label: &CStr) -> Result<()> {
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
    pub(super) fn register(self, op: &CStr) -> Result<()> {
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
