//! The builder of a kernel on devices of one type.

use std::ffi::CStr;

use sp_abi::kernels::TF_NewAsyncKernelBuilder; // since 2.13
use sp_runtime::HostFunction; // since 2.13

use super::asynchronous; // since 2.13
use super::callbacks;
use crate::kernel::compare;
use crate::kernel::definition::Kernel;
use crate::kernel::spec::KernelBuilder;
use crate::{Device, Result};

/// Creates the description of a kernel on devices of this type, without its constraints.
///
/// # Errors
/// Returns an error if the running TensorFlow creates none.
pub(super) fn new_builder<D: Device>(
    kernel: &'static Kernel,
    device_type: &CStr,
) -> Result<KernelBuilder> {
    let (op, is_compared) = (kernel.op(), compare::is_compared(kernel));
    // since 2.13
    if kernel.spec.options.is_asynchronous && TF_NewAsyncKernelBuilder.check_available().is_ok() {
        let compute = match is_compared {
            true => asynchronous::compute_compared::<D>,
            false => asynchronous::compute::<D>,
        };
        let functions = (kernel.create, compute as _, callbacks::delete as _);
        // SAFETY: the functions belong together.
        return unsafe { KernelBuilder::from_asynchronous_functions(op, device_type, functions) };
    }
    let compute = match is_compared {
        true => callbacks::compute_compared::<D>,
        false => callbacks::compute::<D>,
    };
    let functions = (kernel.create, compute as _, callbacks::delete as _);
    // SAFETY: as above.
    unsafe { KernelBuilder::from_functions(op, device_type, functions) }
}
