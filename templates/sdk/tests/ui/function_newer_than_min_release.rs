use sp_abi::kernels::TF_GetDeviceId;
use sp_abi::stream_executor::SP_Platform;

use sp_runtime::{PrefixMut, Result, plugin};

#[plugin(min_release = "2.5")]
fn describe(mut platform: PrefixMut<'_, SP_Platform>) -> Result<()> {
    platform.set(SP_Platform::use_bfc_allocator, 1);
    platform.set(SP_Platform::force_memory_growth, 1);
    TF_GetDeviceId.get()?;
    Ok(())
}

#[plugin(min_release = "2.12")]
fn device() -> Result<()> {
    TF_GetDeviceId.get()?;
    Ok(())
}

/// The expansion of `min_release: "2.5"` in `plugin!`.
pub const MIN_RELEASE: sp_runtime::Release = sp_runtime::Release::from_literal("2.5");

#[plugin]
fn device_of_the_crate() -> Result<()> {
    TF_GetDeviceId.get()?;
    Ok(())
}

fn main() {}
