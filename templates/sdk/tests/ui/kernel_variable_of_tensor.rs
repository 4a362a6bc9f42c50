use sp_plugin::kernel::{In, Out, RefOut, Variable, kernel};
use sp_plugin::{Device, Result};

#[kernel(Relu, T = [f32])]
fn relu(features: Variable<'_, f32>, activations: RefOut<'_, f32>) -> Result<()> {
    activations.forward(&features)
}

#[kernel(ReadVariableOp, dtype = [f32])]
fn read(resource: In<'_, f32>, value: Out<'_, f32>) -> Result<()> {
    value.set(resource)
}

/// The elements are in device memory.
fn first<D: Device>(variable: Variable<'_, f32, D>) -> Result<f32> {
    Ok(variable.lock()?.value()?[0])
}

fn main() {}
