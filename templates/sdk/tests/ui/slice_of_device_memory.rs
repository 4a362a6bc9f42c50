use sp_plugin::kernel::In;
use sp_plugin::{Device, Result};

/// The device is not known to be host-addressable.
fn first<D: Device>(input: In<'_, f32, D>) -> Result<f32> {
    Ok(unsafe { input.as_slice()? }[0])
}

fn main() {}
