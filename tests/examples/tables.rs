//! A plugin with its own kernels and the reference's. Each of its own returns a constant, so that a result
//! shows which kernel ran.

use sp_cpu::CpuDevice;
use sp_plugin::Result;
use sp_plugin::kernel::{HostIn, In, Kernel, Out, kernel, kernels};

#[kernel(Neg, T = [f32], releases = "2.6..2.8")]
fn neg(x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> {
    y.uninit(x.dims())?.fill(41.0);
    Ok(())
}

#[kernel(Relu, T = [f32])]
fn relu(features: In<'_, f32>, activations: Out<'_, f32>) -> Result<()> {
    activations.uninit(features.dims())?.fill(42.0);
    Ok(())
}

#[kernel(Sum, T = [f32], Tidx = [i64], ignore = [input])]
fn sum(_reduction_indices: HostIn<'_, i64>, output: Out<'_, f32>) -> Result<()> {
    output.uninit(&[])?.fill(43.0);
    Ok(())
}

/// Returns the kernels that precede those of the reference backend.
fn table() -> Vec<&'static Kernel> {
    kernels![neg, relu, sum]
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"TABLES",
    platform_name: c"TABLES",
    kernels: [table, sp_cpu::kernels::table],
}
