use sp_plugin::Result;
use sp_plugin::kernel::{In, Out, kernel};

mod ops {
    use sp_plugin::Result;
    use sp_plugin::op::{Shape, op};

    #[op(FusedScale(value: T) -> (output: T), T: {f32}, factor: float = 1.0)]
    pub fn fused_scale(value: Shape) -> Result<Shape> {
        Ok(value)
    }
}

#[kernel(ops::FusedScal, T = [f32])]
fn misspelt_op(value: In<'_, f32>, output: Out<'_, f32>) -> Result<()> {
    output.set(value)
}

#[kernel(FusedScale, T = [f32])]
fn op_without_path(value: In<'_, f32>, output: Out<'_, f32>) -> Result<()> {
    output.set(value)
}

#[kernel(ops::FusedScale, T = [f64])]
fn type_not_allowed(value: In<'_, f64>, output: Out<'_, f64>) -> Result<()> {
    output.set(value)
}

#[kernel(ops::FusedScale, T = [f32])]
fn misspelt_attribute(value: In<'_, f32>, facter: f32, output: Out<'_, f32>) -> Result<()> {
    let _ = facter;
    output.set(value)
}

#[kernel(ops::FusedScale, T = [f32])]
fn wrong_type(value: In<'_, i32>, output: Out<'_, f32>) -> Result<()> {
    let _ = value;
    output.empty()
}

fn main() {}
