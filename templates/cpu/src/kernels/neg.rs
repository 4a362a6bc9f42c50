//! Neg: -x; integers wrap.

use super::prelude::*;

#[kernel(op = "Neg", T = [f32, f64, i64])]
fn neg<T: Element + Number>(cx: &Host<'_>) -> Result<()> {
    unary(cx, arith::neg::<T>)
}
