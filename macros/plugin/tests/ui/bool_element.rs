//! A byte of a tensor may be neither 0 nor 1, so `bool` is not an element type.

use sp_plugin::Result;
use sp_plugin::kernel::Host;

fn any(cx: &Host<'_>) -> Result<bool> {
    Ok(cx.input::<bool>(0)?.data().contains(&true))
}

fn main() {}
