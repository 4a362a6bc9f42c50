//! A plugin whose `min_release` is later than every release, so that each host is declined: it has no
//! devices, and its optimizer and profiler are never called.

use sp_cpu::CpuDevice;
use sp_plugin::graph::Item;
use sp_plugin::profiler::Space;
use sp_plugin::{Optimizer, Profiler, Result};

#[derive(Default)]
struct NeverCalled;

impl Optimizer for NeverCalled {
    fn optimize(&mut self, _: &Item<'_>) -> Result<Option<Vec<u8>>> {
        panic!("a declined optimizer was called")
    }
}

impl Profiler for NeverCalled {
    fn start(&mut self) -> Result<()> {
        panic!("a declined profiler was started")
    }

    fn stop(&mut self) -> Result<()> {
        panic!("a declined profiler was stopped")
    }

    fn collect(&mut self) -> Result<Space> {
        panic!("a declined profiler was collected")
    }
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"FUTURE",
    platform_name: c"FUTURE",
    kernels: [sp_cpu::kernels::table],
    optimizer: NeverCalled,
    profiler: NeverCalled,
    min_release: "2.99",
}
