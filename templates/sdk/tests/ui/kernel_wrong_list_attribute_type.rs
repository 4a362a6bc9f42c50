use sp_plugin::Result;
use sp_plugin::kernel::{In, Out, kernel};

#[kernel(Conv2D, T = [f32], ignore = [filter])]
fn conv(input: In<'_, f32>, output: Out<'_, f32>, strides: &[i32], padding: String) -> Result<()> {
    let _ = (strides, padding);
    output.set(input)
}

#[kernel(VarHandleOp, dtype = [f32])]
fn handle(resource: Out<'_, f32>, shape: Option<&[i64]>) -> Result<()> {
    let _ = shape;
    resource.empty()
}

fn main() {}
