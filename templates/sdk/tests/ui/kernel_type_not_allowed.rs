use sp_plugin::kernel::{In, Out, kernel};
use sp_plugin::{Bool, Element, Result};

#[kernel(Relu, T = [f32, Bool])]
fn relu<T: Element>(features: In<'_, T>, activations: Out<'_, T>) -> Result<()> {
    activations.set(features)
}

type Mask = Bool;

#[kernel(Relu, T = [Mask])]
fn relu_of_alias<T: Element>(features: In<'_, T>, activations: Out<'_, T>) -> Result<()> {
    activations.set(features)
}

fn main() {}
