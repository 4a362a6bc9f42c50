//! A plugin that is loaded beside another one, with the same passes of TensorFlow: of another type and platform.

use sp_cpu::CpuDevice;
use sp_plugin::graph::Item;
use sp_plugin::profiler::{DevicePlane, Space};
use sp_plugin::{Optimizer, Profiler, Result, trace};

#[derive(Default)]
struct Unchanged;

impl Optimizer for Unchanged {
    fn optimize(&mut self, _: &Item<'_>) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

#[derive(Default)]
struct Timeline;

impl Profiler for Timeline {
    fn start(&mut self) -> Result<()> {
        trace::start();
        Ok(())
    }

    fn stop(&mut self) -> Result<()> {
        trace::stop();
        Ok(())
    }

    fn collect(&mut self) -> Result<Space> {
        Ok(trace::take().to_space(DevicePlane::Custom))
    }
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"SECOND",
    platform_name: c"SECOND",
    kernels: [sp_cpu::kernels::table],
    optimizer: Unchanged,
    profiler: Timeline,
}
