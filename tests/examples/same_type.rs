//! A plugin that has the device type of the scaffold that the tests install, and another platform name.

use sp_cpu::CpuDevice;

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"MYACCEL",
    platform_name: c"SAME_TYPE",
    kernels: [Vec::new],
}
