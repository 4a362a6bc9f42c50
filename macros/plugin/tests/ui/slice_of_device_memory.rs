use sp_plugin::kernel::OnDevice;
use sp_plugin::{Device, Result};

/// The device is not known to be host-addressable.
fn peek<D: Device>(cx: &OnDevice<'_, D>) -> Result<f32> {
    let input = cx.input::<f32>(0)?;
    Ok(unsafe { input.as_slice()? }[0])
}

fn main() {}
