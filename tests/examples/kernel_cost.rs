//! The plugin whose kernels `benches/kernel.rs` and `tests/api_calls.rs` call: the reference kernels, and a kernel of one
//! device.

use std::ffi::CStr;

use sp_cpu::CpuDevice;
use sp_plugin::Result;
use sp_plugin::kernel::{Context, In, Kernel, Out, kernel, kernels};

#[kernel(Neg, T = [f32], device = CpuDevice)]
fn neg(
    #[context] _context: &Context<'_, CpuDevice>,
    x: In<'_, f32, CpuDevice>,
    y: Out<'_, f32, CpuDevice>,
) -> Result<()> {
    let mut output = y.uninit(x.dims())?;
    // SAFETY: the device's streams are inline, so no work uses either tensor.
    let (from, to) = unsafe { (x.as_slice()?, output.as_uninit_slice()?) };
    for (to, from) in to.iter_mut().zip(from) {
        to.write(-from);
    }
    Ok(())
}

/// The device type. `SP_COST_TYPE=second` in the environment of the build gives another one, so that one process can have
/// two devices.
const TYPE: &CStr = match option_env!("SP_COST_TYPE") {
    Some(_) => c"COST_SECOND",
    None => c"COST",
};

fn table() -> Vec<&'static Kernel> {
    kernels![neg]
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: TYPE,
    platform_name: TYPE,
    kernels: [table, sp_cpu::kernels::table],
}
