use sp_plugin::Result;
use sp_plugin::kernel::{Host, kernel};

#[kernel(T = [f32])]
fn relu<T>(_: &Host<'_>) -> Result<()> {
    Ok(())
}

fn main() {}
