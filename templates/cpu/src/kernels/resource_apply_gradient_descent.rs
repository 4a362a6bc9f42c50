//! ResourceApplyGradientDescent: var -= alpha * delta, the step of the optimizers before Keras 2.11.
//! Core has no kernel for a plugin's device, and exports no function for one from 2.19 on.

use sp_abi::kernels_experimental::TF_AssignUpdateVariable;

use super::prelude::*;
use crate::compute::map::update;

#[kernel(
    op = "ResourceApplyGradientDescent",
    T = [f32, f64],
    host = ["var"],
    releases = "2.6..2.18",
    needs = [TF_AssignUpdateVariable]
)]
fn resource_apply_gradient_descent<T: Element + Number>(cx: &Host<'_>) -> Result<()> {
    let alpha = cx.input::<T>(1)?.scalar()?;
    cx.update_variable::<T>(0, 2, |variable, delta| {
        update(variable, delta, |old, slope| old.minus(alpha.times(slope)));
    })
}
