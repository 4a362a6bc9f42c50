use sp_plugin::Result;
use sp_plugin::kernel::{In, Out, kernel};

#[kernel(T = [f32])]
fn relu(features: In<'_, f32>, activations: Out<'_, f32>) -> Result<()> {
    activations.set(features)
}

fn main() {}
