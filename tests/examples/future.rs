//! A plugin for releases that are not there yet, so that every one of today's is declined: no devices,
//! and nothing of it is ever asked.

use sp_cpu::CpuDevice;
use sp_plugin::graph::Item;
use sp_plugin::profiler::Space;
use sp_plugin::{Optimizer, Profiler, Result};

#[derive(Default)]
struct Never;

impl Optimizer for Never {
    fn optimize(&mut self, _: &Item<'_>) -> Result<Option<Vec<u8>>> {
        panic!("a declined optimizer was asked")
    }
}

impl Profiler for Never {
    fn start(&mut self) -> Result<()> {
        panic!("a declined profiler was started")
    }

    fn stop(&mut self) -> Result<()> {
        panic!("a declined profiler was stopped")
    }

    fn collect(&mut self) -> Result<Space> {
        panic!("a declined profiler was asked")
    }
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"FUTURE",
    platform_name: c"FUTURE",
    kernels: [sp_cpu::kernels::table],
    optimizer: Never,
    profiler: Never,
    min_release: "2.99",
}
