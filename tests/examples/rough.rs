//! A plugin whose kernels do what an author may do by mistake, in safe code: each must end in a status
//! or in defined values. Fresh device memory is poisoned.

use std::ffi::c_void;

use sp_abi::stream_executor::{DeviceFns, SP_DeviceMemoryBase, StreamExecutor, TimerFns};
use sp_cpu::CpuDevice;
use sp_plugin::graph::Item;
use sp_plugin::kernel::Entry;
use sp_plugin::profiler::Space;
use sp_plugin::{Device, Error, HostAddressable, InPlace, Optimizer, Profiler, Result, vtable};
use sp_runtime::PrefixMut;

const POISON: u8 = 0xA5;

struct Rough {
    reference: CpuDevice,
}

impl Device for Rough {
    type Access = InPlace;

    fn open(_: usize) -> Result<Self> {
        if std::env::var_os("ROUGH_FAILS").is_some() {
            return Err(Error::internal("the device does not start"));
        }
        Ok(Self {
            reference: CpuDevice::new(),
        })
    }
}

// SAFETY: all memory is the reference device's, which is the host's own.
unsafe impl HostAddressable for Rough {}

#[vtable(fallback = self.reference: CpuDevice)]
impl StreamExecutor for Rough {
    unsafe fn allocate(&self, size: u64, space: i64, mut mem: PrefixMut<'_, SP_DeviceMemoryBase>) {
        let own = PrefixMut::fixed_fields(&mut mem);
        // SAFETY: passed on as it came.
        unsafe { self.reference.allocate(size, space, own) };
        poison(mem.get(SP_DeviceMemoryBase::opaque), size);
    }
}

fn poison(start: Option<*mut c_void>, size: u64) {
    if let Some(start) = start.filter(|it| !it.is_null()) {
        // SAFETY: the block was allocated just above, with this size.
        unsafe { start.cast::<u8>().write_bytes(POISON, size as usize) };
    }
}

#[vtable(fallback = self.reference: CpuDevice)]
impl DeviceFns for Rough {}

#[vtable(fallback = self.reference: CpuDevice)]
impl TimerFns for Rough {}

/// Reads an argument as host memory that its registration has in device memory.
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

/// As [`not_on_host`], by a kernel that has another argument in host memory.
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

/// Uses its mask as an index, as safe code may.
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

/// Panics, with a payload as `x` asks: 0 a text, 1 one whose drop panics, 2 one whose drop panics with
/// another such.
mod panics {
    use sp_plugin::Result;
    use sp_plugin::kernel::{Host, kernel};
    use std::panic::panic_any;

    struct Explosive(u32);

    impl Drop for Explosive {
        fn drop(&mut self) {
            match self.0 {
                0 => panic!("dropped"),
                left => panic_any(Explosive(left - 1)),
            }
        }
    }

    #[kernel(op = "Panics")]
    fn panics(cx: &Host<'_>) -> Result<()> {
        match cx.input::<f32>(0)?.scalar()? as u32 {
            0 => panic!("expected"),
            depth => panic_any(Explosive(depth - 1)),
        }
    }
}

fn table() -> Vec<Entry<Rough>> {
    let tables = [
        not_on_host::entries(),
        other_on_host::entries(),
        partly_written::entries(),
        pick::entries(),
        panics::entries(),
    ];
    tables.into_iter().flatten().collect()
}

/// Panics over every graph.
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
    device: Rough,
    device_type: c"ROUGH",
    platform_name: c"ROUGH",
    kernels: [table, sp_cpu::kernels::table],
    optimizer: Panicking,
    profiler: Panicking,
    min_release: "2.8",
}
