//! ReluGrad: the gradient where the feature is above 0.

use super::prelude::*;
use crate::compute::nn::relu;

#[kernel(op = "ReluGrad", T = [f32, f64, i64])]
fn relu_grad<T: Element + Number>(cx: &Host<'_>) -> Result<()> {
    let (gradients, features) = (cx.input::<T>(0)?, cx.input::<T>(1)?);
    if gradients.dims() != features.dims() {
        let (g, x) = (gradients.dims(), features.dims());
        return Err(Error::invalid_argument(format!(
            "gradients {g:?} and features {x:?} differ"
        )));
    }
    binary(cx, relu::relu_grad::<T>)
}
