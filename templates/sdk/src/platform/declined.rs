//! The platform of a plugin that declines its host: it has no devices.
//!
//! TensorFlow asks also such a platform for its tables. It ends the process if a slot is null or a
//! status is an error, and calls no slot of them. Nothing here relies on the layout of a table.

use std::ffi::c_int;

use sp_abi::stream_executor::{
    SE_CreateDeviceFnsParams, SE_CreateDeviceParams, SE_CreateStreamExecutorParams, SP_Device,
    SP_DeviceFns, SP_Platform, SP_PlatformFns, SP_StreamExecutor, SP_TimerFns,
};
use sp_abi::tf_status::TF_Status;
use sp_runtime::{Host, PrefixMut, Versioned, guard};

use super::PluginInfo;
use crate::{Error, Result, part, registered};

/// Sets names that no other plugin has: TensorFlow ends the process if two platforms or device types have
/// one name, also if one of them has no devices.
pub fn name(info: &PluginInfo, platform: &mut PrefixMut<'_, SP_Platform>) {
    let [platform_name, device_type] =
        [info.platform_name, info.device_type].map(registered::declined_name);
    registered::set_names(platform_name, device_type);
    platform.set(SP_Platform::name, platform_name.as_ptr());
    platform.set(SP_Platform::r#type, device_type.as_ptr());
}

/// Fills in the platform's functions.
pub fn fill(fns: &mut PrefixMut<'_, SP_PlatformFns>) {
    // SAFETY: a table of functions; the slots that core calls are replaced below.
    unsafe { part::fill_with_stubs(fns) };
    let mut fns = fns.fixed_fields();
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

/// Fills a table with `fill`, or declines the host and fills the table with stubs if its layout is not
/// known.
pub fn fill_or_decline<T: Versioned>(
    mut table: PrefixMut<'_, T>,
    fill: impl FnOnce(&mut PrefixMut<'_, T>),
) {
    let host = Host::running();
    match host.check_accepted().and_then(|()| table.releases()) {
        Ok(_) => fill(&mut table),
        Err(reason) => {
            host.decline(reason);
            // SAFETY: core calls no slot of a table of a platform without devices.
            unsafe { part::fill_with_stubs(&mut table) };
        }
    }
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
        let reason = Host::running().check_accepted().err();
        Err(reason.unwrap_or_else(|| Error::internal("the plugin has no devices")))
    };
    // SAFETY: the status is TensorFlow's own.
    unsafe { guard::run_with_status("create_device", status, refuse) }
}

unsafe extern "C" fn create_stream_executor(
    _: *const SP_Platform,
    params: *mut SE_CreateStreamExecutorParams,
    status: *mut TF_Status,
) {
    let body = || -> Result<()> {
        // SAFETY: TensorFlow lends the struct for the call, with its struct_size set.
        let mut params = unsafe { PrefixMut::new(params) };
        let field = (
            SE_CreateStreamExecutorParams::stream_executor,
            "stream_executor",
        );
        // SAFETY: as above, and core calls no slot of a table of a platform without devices.
        unsafe { part::fill_with_stubs(&mut part::lent_struct(&mut params, field)?) };
        Ok(())
    };
    // SAFETY: the status is TensorFlow's own.
    unsafe { guard::run_with_status("create_stream_executor", status, body) }
}

unsafe extern "C" fn create_timer_fns(
    _: *const SP_Platform,
    table: *mut SP_TimerFns,
    _: *mut TF_Status,
) {
    // SAFETY: TensorFlow lends the struct for the call, with its struct_size set, and calls no slot of
    // a table of a platform without devices.
    unsafe { part::fill_with_stubs(&mut PrefixMut::new(table)) };
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
