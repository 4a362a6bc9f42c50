//! A plugin with the skeletons that `sp-gen port` writes for `codegen/port/tests/sources`: `SP_BLESS=1 cargo test -p sp-port`
//! writes them again.

use sp_cpu::CpuDevice;

#[path = "ported/device.rs"]
#[rustfmt::skip]
mod device;
#[path = "ported/host.rs"]
#[rustfmt::skip]
mod host;

// The kernel of `codegen/docs/porting.md`.
#[path = "../../codegen/port/tests/three_ways/gather.rs"]
mod gather;

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"PORTED",
    platform_name: c"PORTED",
    kernels: [device::table, host::table, gather::table],
}
