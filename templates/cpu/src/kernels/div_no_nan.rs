//! DivNoNan: x / y, and 0 where y is 0, broadcasting.

use super::prelude::*;

#[kernel(op = "DivNoNan", T = [f32, f64])]
fn div_no_nan<T: Element + Float>(cx: &Host<'_>) -> Result<()> {
    binary(cx, arith::div_no_nan::<T>)
}
