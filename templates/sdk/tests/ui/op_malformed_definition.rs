use sp_plugin::Result;
use sp_plugin::op::{Shape, op};

#[op(scale(x: T) -> (y: T), T: {f32})]
fn lower_case(x: Shape) -> Result<Shape> {
    Ok(x)
}

#[op(MatMul(a: f32) -> (product: f32))]
fn op_of_tensorflow(a: Shape) -> Result<Shape> {
    Ok(a)
}

#[op(Scale(x: T) -> (y: T), alpha: float = 1.0)]
fn type_without_attribute(x: Shape) -> Result<Shape> {
    Ok(x)
}

#[op(Fill(x: f32) -> (y: f32), mode: {"SAME", "VALID"} = "SAMF")]
fn default_not_allowed(x: Shape) -> Result<Shape> {
    Ok(x)
}

#[op(Shift(x: f32) -> (y: f32), T: {f33})]
fn unknown_type(x: Shape) -> Result<Shape> {
    Ok(x)
}

#[op(Turn(x: f32) -> (y: f32), statefull)]
fn unknown_property(x: Shape) -> Result<Shape> {
    Ok(x)
}

#[op]
fn without_signature(x: Shape) -> Result<Shape> {
    Ok(x)
}

fn main() {}
