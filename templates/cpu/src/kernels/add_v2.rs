//! AddV2: x + y, broadcasting; integers wrap.

use super::prelude::*;

#[kernel(op = "AddV2", T = [f32, f64, i64])]
fn add_v2<T: Element + Number>(cx: &Host<'_>) -> Result<()> {
    binary(cx, arith::add::<T>)
}
