use sp_plugin::Result;
use sp_plugin::kernel::{In, Out, kernel};

#[kernel(MatMul, T = [f32])]
fn mat_mul(a: In<'_, f32>, b: In<'_, f32>, product: Out<'_, f32>, transpose_a: i64) -> Result<()> {
    product.set(a)
}

fn main() {}
