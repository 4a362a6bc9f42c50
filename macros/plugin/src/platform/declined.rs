//! The platform of a plugin that cannot serve its host: it has no devices. TensorFlow demands that
//! the other callbacks be there, and calls none of them.

use std::ffi::c_int;

use sp_abi::stream_executor::{
    PlatformFns, SE_CreateDeviceFnsParams, SE_CreateDeviceParams, SE_CreateStreamExecutorParams,
    SP_Device, SP_DeviceFns, SP_Platform, SP_StreamExecutor, SP_TimerFns,
};
use sp_abi::tf_status::TF_Status;
use sp_runtime::{Host, Prefix, PrefixMut};

use crate::{Error, Result};

/// The count of its devices. The trait's own callback would refuse a platform of unknown size, and
/// TensorFlow does not survive a count that fails.
pub unsafe extern "C" fn no_devices(_: *const SP_Platform, count: *mut c_int, _: *mut TF_Status) {
    // SAFETY: TensorFlow lends a place for the count.
    unsafe { count.write(0) }
}

/// A platform without devices.
pub struct Declined;

fn refuse() -> Result<()> {
    let host = Host::running();
    Err(host
        .serve()
        .err()
        .unwrap_or_else(|| Error::internal("the plugin has no devices")))
}

impl PlatformFns for Declined {
    unsafe fn get_device_count(_: Prefix<'_, SP_Platform>, count: *mut c_int) -> Result<()> {
        // SAFETY: TensorFlow lends a place for the count.
        unsafe { count.write(0) }
        Ok(())
    }

    unsafe fn create_device(
        _: Prefix<'_, SP_Platform>,
        _: PrefixMut<'_, SE_CreateDeviceParams>,
    ) -> Result<()> {
        refuse()
    }

    unsafe fn destroy_device(_: Prefix<'_, SP_Platform>, _: PrefixMut<'_, SP_Device>) {}

    unsafe fn create_device_fns(
        _: Prefix<'_, SP_Platform>,
        _: PrefixMut<'_, SE_CreateDeviceFnsParams>,
    ) -> Result<()> {
        refuse()
    }

    unsafe fn destroy_device_fns(_: Prefix<'_, SP_Platform>, _: PrefixMut<'_, SP_DeviceFns>) {}

    unsafe fn create_stream_executor(
        _: Prefix<'_, SP_Platform>,
        _: PrefixMut<'_, SE_CreateStreamExecutorParams>,
    ) -> Result<()> {
        refuse()
    }

    unsafe fn destroy_stream_executor(
        _: Prefix<'_, SP_Platform>,
        _: PrefixMut<'_, SP_StreamExecutor>,
    ) {
    }

    unsafe fn create_timer_fns(
        _: Prefix<'_, SP_Platform>,
        _: PrefixMut<'_, SP_TimerFns>,
    ) -> Result<()> {
        refuse()
    }

    unsafe fn destroy_timer_fns(_: Prefix<'_, SP_Platform>, _: PrefixMut<'_, SP_TimerFns>) {}
}
