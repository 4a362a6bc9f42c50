//! Softmax and the cross entropy with probabilities as labels.

use super::prelude::*;
use crate::compute::Broadcast;
use crate::compute::elementary::Elementary;
use crate::compute::map::map2;
use crate::compute::nn::softmax;
use crate::compute::workspace::zeroed;

#[kernel(Softmax, T = [F16, Bf16, f32, f64])]
fn softmax<T: Element + Precision<Compute: Elementary>>(
    logits: In<'_, T>,
    softmax: Out<'_, T>,
) -> Result<()> {
    rows(logits, softmax, false)
}

#[kernel(LogSoftmax, T = [F16, Bf16, f32, f64])]
fn log_softmax<T: Element + Precision<Compute: Elementary>>(
    logits: In<'_, T>,
    logsoftmax: Out<'_, T>,
) -> Result<()> {
    rows(logits, logsoftmax, true)
}

fn rows<T: Element + Precision<Compute: Elementary>>(
    logits: In<'_, T>,
    output: Out<'_, T>,
    is_log: bool,
) -> Result<()> {
    let Some(width) = logits.dims().last() else {
        return invalid!("logits must have >= 1 dimension, got []");
    };
    let mut output = output.unspecified(logits.dims())?;
    if !logits.is_empty() {
        let logits = T::widened(logits.data());
        T::overwrite(&mut output, |output| {
            softmax::softmax(&logits, *width, is_log, output)
        });
    }
    Ok(())
}

/// Features and labels broadcast, as in TensorFlow.
#[kernel(SoftmaxCrossEntropyWithLogits, T = [F16, Bf16, f32, f64])]
fn softmax_cross_entropy<T: Element + Precision<Compute: Elementary>>(
    features: In<'_, T>,
    labels: In<'_, T>,
    loss: Out<'_, T>,
    backprop: Out<'_, T>,
) -> Result<()> {
    let Ok(plan) = Broadcast::new([features.dims(), labels.dims()]) else {
        return invalid!(
            "logits and labels must be broadcastable: logits_size={} labels_size={}",
            Dims(features.dims()),
            Dims(labels.dims())
        );
    };
    let &[batch, classes] = plan.dims() else {
        return invalid!(
            "logits and labels must broadcast to a matrix, but have shapes {:?} and {:?}",
            features.dims(),
            labels.dims()
        );
    };
    let (mut loss, mut gradient) = (loss.zeroed(&[batch])?, backprop.zeroed(plan.dims())?);
    if gradient.is_empty() {
        return Ok(());
    }
    let (features, labels) = (T::widened(features.data()), T::widened(labels.data()));
    T::update(&mut loss, |loss| {
        T::update(&mut gradient, |gradient| {
            cross_entropy(&plan, classes, [&features, &labels], loss, gradient)
        });
    });
    Ok(())
}

/// Writes loss and gradient of operands that `plan` broadcasts.
fn cross_entropy<T: Elementary>(
    plan: &Broadcast<2>,
    classes: usize,
    [features, labels]: [&[T]; 2],
    loss: &mut [T],
    gradient: &mut [T],
) {
    map2(
        plan,
        features,
        labels,
        gradient,
        #[inline(always)]
        |_, label| label,
    );
    if features.len() == gradient.len() {
        return softmax::softmax_cross_entropy(features, classes, loss, gradient);
    }
    let mut logits = zeroed(gradient.len());
    map2(
        plan,
        features,
        labels,
        &mut logits,
        #[inline(always)]
        |logit, _| logit,
    );
    softmax::softmax_cross_entropy(&logits, classes, loss, gradient);
}

table! { softmax, log_softmax, softmax_cross_entropy }
