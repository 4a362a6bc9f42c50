//! SparseSoftmaxCrossEntropyWithLogits: the loss of each row, and its gradient.

use super::prelude::*;
use crate::compute::nn::cross_entropy::{Label, sparse_softmax_cross_entropy as compute};

#[kernel(
    op = "SparseSoftmaxCrossEntropyWithLogits",
    T = [f32, f64],
    Tlabels = [i32, i64]
)]
fn sparse_softmax_cross_entropy<T, L>(cx: &Host<'_>) -> Result<()>
where
    T: Element + Float,
    L: Element + Label,
{
    let (logits, labels) = (cx.input::<T>(0)?, cx.input::<L>(1)?);
    let &[rows, classes] = logits.dims() else {
        return Err(Error::invalid_argument(format!(
            "logits must be a matrix, not {:?}",
            logits.dims()
        )));
    };
    if labels.dims() != [rows] {
        let message = format!(
            "{rows} rows of logits need as many labels, not {:?}",
            labels.dims()
        );
        return Err(Error::invalid_argument(message));
    }
    if classes == 0 && rows > 0 {
        return Err(Error::invalid_argument("Must have at least one class"));
    }
    let (loss, gradient) = (cx.output(0, &[rows])?, cx.output(1, &[rows, classes])?);
    if rows > 0 {
        compute(logits.data(), labels.data(), classes, loss, gradient)?;
    }
    Ok(())
}
