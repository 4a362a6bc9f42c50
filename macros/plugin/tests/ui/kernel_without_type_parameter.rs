use sp_plugin::Result;
use sp_plugin::kernel::{Host, kernel};

#[kernel(op = "Relu", T = [f32, f64])]
fn relu(_: &Host<'_>) -> Result<()> {
    Ok(())
}

fn main() {}
