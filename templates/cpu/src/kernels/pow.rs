//! Pow: x to the power y, broadcasting.

use super::prelude::*;

#[kernel(op = "Pow", T = [f32, f64])]
fn pow<T: Element + Float>(cx: &Host<'_>) -> Result<()> {
    binary_with_cost(Cost::Expensive, cx, arith::pow::<T>)
}
