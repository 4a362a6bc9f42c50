//! Softmax and the cross entropy with probabilities as labels.

use super::prelude::*;
use crate::compute::Broadcast;
use crate::compute::elementary::Elementary;
use crate::compute::map::map2;
use crate::compute::nn::softmax;
use sp_plugin::kernel::{Kernel, kernels};

#[kernel(Softmax, T = [f32, f64])]
fn softmax<T: Element + Elementary>(logits: In<'_, T>, softmax: Out<'_, T>) -> Result<()> {
    rows(logits, softmax, false)
}

#[kernel(LogSoftmax, T = [f32, f64])]
fn log_softmax<T: Element + Elementary>(logits: In<'_, T>, logsoftmax: Out<'_, T>) -> Result<()> {
    rows(logits, logsoftmax, true)
}

fn rows<T: Element + Elementary>(
    logits: In<'_, T>,
    output: Out<'_, T>,
    is_log: bool,
) -> Result<()> {
    let Some(width) = logits.dims().last() else {
        return Err(Error::invalid_argument(
            "logits must have 1 dimension or more, not shape []",
        ));
    };
    let mut output = output.zeroed(logits.dims())?;
    if !logits.is_empty() {
        softmax::softmax(logits.data(), *width, is_log, &mut output);
    }
    Ok(())
}

/// Features and labels broadcast, as in TensorFlow.
#[kernel(SoftmaxCrossEntropyWithLogits, T = [f32, f64])]
fn softmax_cross_entropy<T: Element + Elementary>(
    features: In<'_, T>,
    labels: In<'_, T>,
    loss: Out<'_, T>,
    backprop: Out<'_, T>,
) -> Result<()> {
    let plan = Broadcast::new([features.dims(), labels.dims()])?;
    let &[batch, classes] = plan.dims() else {
        let message = format!(
            "logits and labels must broadcast to a matrix, but have shapes {:?} and {:?}",
            features.dims(),
            labels.dims()
        );
        return Err(Error::invalid_argument(message));
    };
    let (mut loss, mut gradient) = (loss.zeroed(&[batch])?, backprop.zeroed(plan.dims())?);
    if gradient.is_empty() {
        return Ok(());
    }
    map2(
        &plan,
        features.data(),
        labels.data(),
        &mut gradient,
        #[inline(always)]
        |_, label| label,
    );
    if features.len() == gradient.len() {
        softmax::softmax_cross_entropy(features.data(), classes, &mut loss, &mut gradient);
        return Ok(());
    }
    let mut logits = vec![T::ZERO; gradient.len()];
    map2(
        &plan,
        features.data(),
        labels.data(),
        &mut logits,
        #[inline(always)]
        |logit, _| logit,
    );
    softmax::softmax_cross_entropy(&logits, classes, &mut loss, &mut gradient);
    Ok(())
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![softmax, log_softmax, softmax_cross_entropy]
}
