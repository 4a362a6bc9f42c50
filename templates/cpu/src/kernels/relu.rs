//! Relu: max(x, 0); NaN stays NaN.

use super::prelude::*;
use crate::compute::nn::relu;

#[kernel(op = "Relu", T = [f32, f64, i64])]
fn relu<T: Element + Number>(cx: &Host<'_>) -> Result<()> {
    unary(cx, relu::relu::<T>)
}
