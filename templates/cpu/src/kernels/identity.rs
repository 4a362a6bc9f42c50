//! Tensors that are passed on.

use super::prelude::*;
use sp_plugin::kernel::marker::{Resource, Variant};
use sp_plugin::kernel::{AnyIn, AnyOut};

/// Handles of resources are in host memory, variants on the device. Core has kernels of other types for every device.
#[kernel(Identity, T: any = [Resource, Variant])]
fn identity(input: AnyIn<'_>, output: AnyOut<'_>) -> Result<()> {
    output.set(input)
}
