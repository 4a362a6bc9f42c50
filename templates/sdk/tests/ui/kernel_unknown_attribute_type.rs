use sp_plugin::Result;
use sp_plugin::kernel::{In, Out, kernel};

struct Transposed(bool);

#[kernel(MatMul, T = [f32], ignore = [b])]
fn mat_mul(a: In<'_, f32>, product: Out<'_, f32>, transpose_a: Transposed) -> Result<()> {
    let _ = transpose_a.0;
    product.set(a)
}

fn main() {}
