use sp_plugin::Result;
use sp_plugin::kernel::{In, Out, kernel};

#[kernel(Sum, T = [f32])]
fn sum(input: In<'_, f32>, reduction_indices: In<'_, i32>, output: Out<'_, f32>) -> Result<()> {
    output.set(input)
}

fn main() {}
