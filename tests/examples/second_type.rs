//! A plugin that is loaded beside another one, with the same passes of TensorFlow: of another type and platform.

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
    device_type: c"SECOND",
    platform_name: c"SECOND",
    kernels: [sp_cpu::kernels::table],
    optimizer: Unchanged,
}
