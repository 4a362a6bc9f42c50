//! A plugin of device type `GPU`, for programs that name `/gpu:0`: the reference kernels, and an optimizer that changes nothing.

use sp_cpu::CpuDevice;
use sp_plugin::graph::Item;
use sp_plugin::{Optimizer, Result};

#[derive(Default)]
struct Unchanged;

impl Optimizer for Unchanged {
    fn optimize(&mut self, _: &Item<'_>) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"GPU",
    platform_name: c"TYPE_GPU",
    kernels: [sp_cpu::kernels::table],
    optimizer: Unchanged,
}
