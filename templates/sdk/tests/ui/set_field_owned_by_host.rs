//! A plugin sets its own fields only; it can read all others.

use sp_abi::stream_executor::{
    SE_CreateDeviceParams, SE_PlatformRegistrationParams, SP_Device, SP_StreamExecutor,
};
use sp_runtime::PrefixMut;

fn ordinal(mut params: PrefixMut<'_, SE_CreateDeviceParams>) {
    params.set(SE_CreateDeviceParams::ordinal, 1);
}

fn allocated_by_host(mut params: PrefixMut<'_, SE_PlatformRegistrationParams>) {
    params.set(SE_PlatformRegistrationParams::platform, std::ptr::null_mut());
}

fn reserved(mut table: PrefixMut<'_, SP_StreamExecutor>) {
    table.set(SP_StreamExecutor::ext, std::ptr::null_mut());
}

fn size(mut device: PrefixMut<'_, SP_Device>) {
    device.set(SP_Device::struct_size, 8);
}

fn its_own(mut device: PrefixMut<'_, SP_Device>) {
    device.set(SP_Device::ext, std::ptr::null_mut());
    device.set(SP_Device::device_handle, std::ptr::null_mut());
}

fn main() {}
