//! RealDiv: x / y, broadcasting.

use super::prelude::*;

#[kernel(op = "RealDiv", T = [f32, f64])]
fn real_div<T: Element + Float>(cx: &Host<'_>) -> Result<()> {
    binary(cx, arith::real_div::<T>)
}
