//! Square: x * x; integers wrap.

use super::prelude::*;

#[kernel(op = "Square", T = [f32, f64, i64])]
fn square<T: Element + Number>(cx: &Host<'_>) -> Result<()> {
    unary(cx, arith::square::<T>)
}
