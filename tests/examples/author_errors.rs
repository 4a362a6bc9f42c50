//! A plugin whose kernels have errors that an author can make in safe code. Each must end in a status or in
//! defined values. New device memory is filled with a pattern.

use std::ffi::c_void;

use sp_abi::stream_executor::{DeviceFns, SP_DeviceMemoryBase, StreamExecutor, TimerFns};
use sp_cpu::CpuDevice;
use sp_plugin::graph::Item;
use sp_plugin::kernel::Entry;
use sp_plugin::profiler::Space;
use sp_plugin::{Device, HostAddressable, InPlace, Optimizer, Profiler, Result, vtable};
use sp_runtime::PrefixMut;

const POISON: u8 = 0xA5;

struct FaultyDevice {
    reference: CpuDevice,
}

impl Device for FaultyDevice {
    type Access = InPlace;

    fn open(_: usize) -> Result<Self> {
        Ok(Self {
            reference: CpuDevice::new(),
        })
    }
}

// SAFETY: all memory is the reference device's, which is the host's own.
unsafe impl HostAddressable for FaultyDevice {}

#[vtable(fallback = self.reference: CpuDevice)]
impl StreamExecutor for FaultyDevice {
    unsafe fn allocate(&self, size: u64, space: i64, mut mem: PrefixMut<'_, SP_DeviceMemoryBase>) {
        let own = PrefixMut::fixed_fields(&mut mem);
        // SAFETY: the caller has the same obligations.
        unsafe { self.reference.allocate(size, space, own) };
        poison(mem.get(SP_DeviceMemoryBase::opaque), size);
    }
}

/// Fills a new block of `size` bytes.
fn poison(start: Option<*mut c_void>, size: u64) {
    if let Some(start) = start.filter(|start| !start.is_null()) {
        // SAFETY: `allocate` has just returned the block, with this size.
        unsafe { start.cast::<u8>().write_bytes(POISON, size as usize) };
    }
}

#[vtable(fallback = self.reference: CpuDevice)]
impl DeviceFns for FaultyDevice {}

#[vtable(fallback = self.reference: CpuDevice)]
impl TimerFns for FaultyDevice {}

/// Reads an argument as host memory that is registered in device memory.
mod not_on_host {
    use sp_plugin::kernel::{Host, kernel};
    use sp_plugin::{Element, Result};

    #[kernel(op = "NotOnHost", T = [f32])]
    fn not_on_host<T: Element>(cx: &Host<'_>) -> Result<()> {
        let x = cx.host_input::<T>(0)?;
        cx.output::<T>(0, x.dims())?.copy_from_slice(x.data());
        Ok(())
    }
}

/// Does as [`not_on_host`], in a kernel with another argument in host memory.
mod other_on_host {
    use sp_plugin::kernel::{Host, kernel};
    use sp_plugin::{Element, Result};

    #[kernel(op = "Mean", T = [f32], host = ["reduction_indices"])]
    fn other_on_host<T: Element>(cx: &Host<'_>) -> Result<()> {
        let axes = cx.host_integers(1)?;
        cx.output::<T>(0, &[axes.len()])?;
        cx.host_input::<T>(0).map(drop)
    }
}

/// Writes one element of its output.
mod partly_written {
    use sp_plugin::Result;
    use sp_plugin::kernel::{Host, kernel};

    #[kernel(op = "PartlyWritten")]
    fn partly_written(cx: &Host<'_>) -> Result<()> {
        let x = cx.input::<f32>(0)?;
        let out = cx.output::<f32>(0, x.dims())?;
        let before: f32 = out.iter().sum();
        out[0] = 1.0 + before;
        Ok(())
    }
}

/// Uses a boolean as an index, which is safe only if it is 0 or 1.
mod pick {
    use sp_plugin::kernel::{Host, kernel};
    use sp_plugin::{Bool, Result};

    #[kernel(op = "Pick")]
    fn pick(cx: &Host<'_>) -> Result<()> {
        let mask = cx.input::<Bool>(0)?;
        let picked = cx.output::<f32>(0, mask.dims())?;
        for (out, mask) in picked.iter_mut().zip(mask.data()) {
            *out = [10.0, 20.0][usize::from(bool::from(*mask))];
        }
        Ok(())
    }
}

/// Panics. The input selects the payload: 0 is a text, and `n` is an object whose drop panics, `n` objects
/// deep.
mod panics {
    use sp_plugin::Result;
    use sp_plugin::kernel::{Host, kernel};
    use std::panic::panic_any;

    struct PanicsOnDrop(u32);

    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            match self.0 {
                0 => panic!("dropped"),
                depth => panic_any(PanicsOnDrop(depth - 1)),
            }
        }
    }

    #[kernel(op = "Panics")]
    fn panics(cx: &Host<'_>) -> Result<()> {
        match cx.input::<f32>(0)?.scalar()? as u32 {
            0 => panic!("expected"),
            depth => panic_any(PanicsOnDrop(depth - 1)),
        }
    }
}

fn table() -> Vec<Entry<FaultyDevice>> {
    let tables = [
        not_on_host::entries(),
        other_on_host::entries(),
        partly_written::entries(),
        pick::entries(),
        panics::entries(),
    ];
    tables.into_iter().flatten().collect()
}

/// Panics in every call that returns data.
#[derive(Default)]
struct Panicking;

impl Optimizer for Panicking {
    fn optimize(&mut self, _: &Item<'_>) -> Result<Option<Vec<u8>>> {
        panic!("expected")
    }
}

impl Profiler for Panicking {
    fn start(&mut self) -> Result<()> {
        Ok(())
    }

    fn stop(&mut self) -> Result<()> {
        Ok(())
    }

    fn collect(&mut self) -> Result<Space> {
        panic!("expected")
    }
}

sp_plugin::plugin! {
    device: FaultyDevice,
    device_type: c"AUTHOR_ERRORS",
    platform_name: c"AUTHOR_ERRORS",
    kernels: [table, sp_cpu::kernels::table],
    optimizer: Panicking,
    profiler: Panicking,
    min_release: "2.8",
}
