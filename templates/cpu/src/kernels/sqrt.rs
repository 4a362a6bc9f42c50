//! Sqrt: the square root; NaN below 0.

use super::prelude::*;

#[kernel(op = "Sqrt", T = [f32, f64])]
fn sqrt<T: Element + Float>(cx: &Host<'_>) -> Result<()> {
    unary(cx, arith::sqrt::<T>)
}
