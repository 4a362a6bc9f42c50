use sp_plugin::Result;
use sp_plugin::op::{Shape, op};

#[op(Scale(x: T) -> (y: T), T: {f32}, alpha: float = 1.0)]
fn misspelt_input(xs: Shape) -> Result<Shape> {
    Ok(xs)
}

#[op(Shift(x: T) -> (y: T), T: {f32}, alpha: float = 1.0)]
fn reads_attribute(x: Shape, alpha: f32) -> Result<Shape> {
    Ok(x)
}

#[op(Turn(x: f32) -> (y: f32))]
fn output_as_parameter(x: Shape, y: Shape) -> Result<Shape> {
    x.merge(y)
}

#[op(Join(values: N * f32) -> (y: f32), N: int >= 1)]
fn list_as_one_shape(values: Shape) -> Result<Shape> {
    Ok(values)
}

#[op(Divide(x: f32) -> (quotient: f32, rest: f32))]
fn one_shape_for_two_outputs(x: Shape) -> Result<Shape> {
    Ok(x)
}

fn main() {}
