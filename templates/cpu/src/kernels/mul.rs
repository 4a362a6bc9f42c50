//! Mul: x * y, broadcasting; integers wrap.

use super::prelude::*;

#[kernel(op = "Mul", T = [f32, f64, i64])]
fn mul<T: Element + Number>(cx: &Host<'_>) -> Result<()> {
    binary(cx, arith::mul::<T>)
}
