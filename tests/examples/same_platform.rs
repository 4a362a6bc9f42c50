//! A plugin that has the platform name of the scaffold that the tests install, and another device type.

use sp_cpu::CpuDevice;

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"SAME_PLATFORM",
    platform_name: c"MYACCEL",
    kernels: [Vec::new],
}
