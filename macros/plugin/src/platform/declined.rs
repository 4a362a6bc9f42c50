//! The platform of a plugin that cannot serve its host: it has no devices.
//!
//! TensorFlow asks also such a platform for its tables, aborts where a slot is null or a status says
//! no, and then calls nothing in them. What is here takes no struct's layout for known: a view that
//! checks would refuse.

use std::ffi::c_int;
use std::mem::offset_of;

use sp_abi::stream_executor::{
    SE_CreateDeviceFnsParams, SE_CreateDeviceParams, SE_CreateStreamExecutorParams, SP_Device,
    SP_DeviceFns, SP_Platform, SP_PlatformFns, SP_StreamExecutor, SP_TimerFns,
};
use sp_abi::tf_status::TF_Status;
use sp_runtime::{Host, PrefixMut, Versioned, guard};

use super::present;
use crate::{Error, Result};

/// Fills in the platform's functions.
pub fn fill(fns: &mut PrefixMut<'_, SP_PlatformFns>) {
    fns.occupy(offset_of!(SP_PlatformFns, get_device_count), nothing);
    let mut fns = fns.fixed();
    fns.set(SP_PlatformFns::get_device_count, Some(no_devices));
    fns.set(SP_PlatformFns::create_device, Some(create_device));
    fns.set(SP_PlatformFns::destroy_device, Some(destroy_device));
    fns.set(SP_PlatformFns::create_device_fns, Some(create_device_fns));
    fns.set(SP_PlatformFns::destroy_device_fns, Some(destroy_device_fns));
    fns.set(
        SP_PlatformFns::create_stream_executor,
        Some(create_stream_executor),
    );
    fns.set(
        SP_PlatformFns::destroy_stream_executor,
        Some(destroy_stream_executor),
    );
    fns.set(SP_PlatformFns::create_timer_fns, Some(create_timer_fns));
    fns.set(SP_PlatformFns::destroy_timer_fns, Some(destroy_timer_fns));
}

/// What stands where TensorFlow wants a function and calls none.
unsafe extern "C" fn nothing() -> usize {
    0
}

/// Leaves no slot of a table null, however long it is.
///
/// # Safety
/// `table` is null, or one that TensorFlow lends for the call, with its `struct_size` set.
unsafe fn occupy<T: Versioned>(table: *mut T, first: usize) {
    // SAFETY: the caller vouches for it.
    unsafe { PrefixMut::new(table) }.occupy(first, nothing);
}

unsafe extern "C" fn no_devices(_: *const SP_Platform, count: *mut c_int, _: *mut TF_Status) {
    // SAFETY: TensorFlow lends a place for the count.
    unsafe { count.write(0) }
}

unsafe extern "C" fn create_device(
    _: *const SP_Platform,
    _: *mut SE_CreateDeviceParams,
    status: *mut TF_Status,
) {
    let refuse = || {
        let reason = Host::running().serve().err();
        Err(reason.unwrap_or_else(|| Error::internal("the plugin has no devices")))
    };
    // SAFETY: the status is TensorFlow's own.
    unsafe { guard::status("create_device", status, refuse) }
}

unsafe extern "C" fn create_stream_executor(
    _: *const SP_Platform,
    params: *mut SE_CreateStreamExecutorParams,
    status: *mut TF_Status,
) {
    let body = || -> Result<()> {
        // SAFETY: TensorFlow lends the struct for the call, with its struct_size set.
        let mut params = unsafe { PrefixMut::new(params) };
        let field = SE_CreateStreamExecutorParams::stream_executor;
        let table = present(params.fixed().get(field), "stream_executor")?;
        // SAFETY: as above.
        unsafe { occupy(table, offset_of!(SP_StreamExecutor, allocate)) };
        Ok(())
    };
    // SAFETY: the status is TensorFlow's own.
    unsafe { guard::status("create_stream_executor", status, body) }
}

unsafe extern "C" fn create_timer_fns(
    _: *const SP_Platform,
    table: *mut SP_TimerFns,
    _: *mut TF_Status,
) {
    // SAFETY: TensorFlow lends the struct for the call, with its struct_size set.
    unsafe { occupy(table, offset_of!(SP_TimerFns, nanoseconds)) }
}

/// TensorFlow looks for no slot in there, and a device has none to fill them for.
unsafe extern "C" fn create_device_fns(
    _: *const SP_Platform,
    _: *mut SE_CreateDeviceFnsParams,
    _: *mut TF_Status,
) {
}

unsafe extern "C" fn destroy_device(_: *const SP_Platform, _: *mut SP_Device) {}
unsafe extern "C" fn destroy_device_fns(_: *const SP_Platform, _: *mut SP_DeviceFns) {}
unsafe extern "C" fn destroy_stream_executor(_: *const SP_Platform, _: *mut SP_StreamExecutor) {}
unsafe extern "C" fn destroy_timer_fns(_: *const SP_Platform, _: *mut SP_TimerFns) {}
