use sp_plugin::Result;
use sp_plugin::kernel::{Attributes, In, Out, kernel};

#[derive(Attributes)]
struct Transposed {
    transpose_a: bool,
    transpose_c: bool,
}

#[kernel(MatMul, T = [f32])]
fn mat_mul(a: In<'_, f32>, b: In<'_, f32>, product: Out<'_, f32>, #[state] plan: &Transposed) -> Result<()> {
    product.set(a)
}

fn main() {}
