//! Sub: x - y, broadcasting; integers wrap.

use super::prelude::*;

#[kernel(op = "Sub", T = [f32, f64, i64])]
fn sub<T: Element + Number>(cx: &Host<'_>) -> Result<()> {
    binary(cx, arith::sub::<T>)
}
