//! All errors of a kernel are reported at once: an input, an attribute and an output that the op does not have.

use sp_plugin::Result;
use sp_plugin::kernel::{HostIn, In, Integer, Out, kernel};

#[kernel(Sum, T = [f32], Tid = [i32])]
fn sum(
    inputs: In<'_, f32>,
    reduction_indices: HostIn<'_, Integer>,
    outptu: Out<'_, f32>,
    keep_dim: bool,
) -> Result<()> {
    Ok(())
}

fn main() {}
