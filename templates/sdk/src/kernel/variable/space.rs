//! The memory space of a variable: elements for the host, or addresses on a device.

use std::ffi::c_void;

use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::Prefix;

use crate::access::memory_base;
use crate::kernel::call::Call;
use crate::kernel::parameter::HostAccess;
use crate::tensor::Tensor;
use crate::{Device, Error, Result};

/// The memory space of a variable: [`HostAccess`], or a device.
pub trait Space {
    /// Copies `bytes` bytes of the call's device memory.
    ///
    /// # Errors
    /// Returns an error if the device does.
    ///
    /// # Safety
    /// Both addresses are in the device's memory, and good for that many bytes.
    unsafe fn copy(
        call: &Call<'_>,
        source: *mut c_void,
        target: *mut c_void,
        bytes: usize,
    ) -> Result<()>;
}

impl Space for HostAccess {
    unsafe fn copy(
        call: &Call<'_>,
        source: *mut c_void,
        target: *mut c_void,
        bytes: usize,
    ) -> Result<()> {
        match call.staged_memory()? {
            // SAFETY: the caller has the same obligations.
            Some(memory) => unsafe { memory.copy(source, target, bytes) },
            None => {
                call.settle()?;
                // SAFETY: the host can address the memory, and the caller guarantees the size.
                unsafe { source.cast::<u8>().copy_to(target.cast(), bytes) };
                Ok(())
            }
        }
    }
}

impl<D: Device> Space for D {
    unsafe fn copy(
        call: &Call<'_>,
        source: *mut c_void,
        target: *mut c_void,
        bytes: usize,
    ) -> Result<()> {
        let (device, stream) = call.device::<D>()?;
        let (source, target) = (memory_base(source, bytes), memory_base(target, bytes));
        let (source, target) = (Prefix::from_ref(&source), Prefix::from_ref(&target));
        // SAFETY: the caller guarantees both regions. TensorFlow reuses the memory of a deleted tensor only for later
        // work of this stream.
        unsafe { device.memcpy_dtod(stream, target, source, bytes as u64) }
    }
}

/// Copies the value of a variable of this element type to a new tensor: `tensors` are the source and the target.
///
/// # Errors
/// Returns an error if the types or sizes differ, or if the copy fails.
pub(super) fn copy_tensor<S: Space>(
    call: &Call<'_>,
    dtype: TF_DataType,
    tensors: &[&Tensor],
) -> Result<()> {
    let [source, target] = tensors else {
        return Err(Error::internal("a copy has two tensors"));
    };
    source.require_type(dtype)?;
    target.require_type(dtype)?;
    let (from, to) = (source.bytes()?, target.bytes()?);
    match (from == to, to) {
        (true, 0) => Ok(()),
        // SAFETY: both tensors are in the device's memory, as each value of a variable, and have `to` bytes.
        (true, _) => unsafe { S::copy(call, source.data()?, target.data()?, to) },
        (false, _) => fail!(
            invalid_argument,
            "a value of {from} bytes for a variable of {to} bytes"
        ),
    }
}
