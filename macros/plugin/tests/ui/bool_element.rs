//! A tensor's byte may be neither 0 nor 1, so its elements are no `bool`.

use sp_plugin::Result;
use sp_plugin::kernel::Host;

fn any(cx: &Host<'_>) -> Result<bool> {
    Ok(cx.input::<bool>(0)?.data().contains(&true))
}

fn main() {}
