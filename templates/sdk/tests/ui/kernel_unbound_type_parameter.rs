use sp_plugin::kernel::{In, Out, kernel};
use sp_plugin::{Element, Result};

#[kernel(Relu, T = [f32])]
fn relu<E: Element>(features: In<'_, E>, activations: Out<'_, E>) -> Result<()> {
    activations.set(features)
}

fn main() {}
