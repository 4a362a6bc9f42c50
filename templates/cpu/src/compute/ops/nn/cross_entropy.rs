//! Softmax cross entropy with one label per row: loss and gradient in one pass over the logits.

use crate::compute::loops::reduce::fold_row;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel;
use crate::compute::machine::simd::Isa;
use crate::compute::scalar::arith::{Float, greatest};
use crate::compute::{Error, Result};

/// An element type of labels.
pub trait Label: Copy + Sync {
    /// Converts the label.
    fn to_i64(self) -> i64;
}

impl Label for i32 {
    fn to_i64(self) -> i64 {
        self.into()
    }
}

impl Label for i64 {
    fn to_i64(self) -> i64 {
        self
    }
}

/// Computes for each row of `classes` logits and its label `loss = ln(sum(exp(x - max))) - (x[label] - max)`, and
/// `gradient = softmax(x) - onehot(label)`. All is computed in `T`, as in TensorFlow: a row with NaN or +inf, or
/// with only -inf, gives NaN.
///
/// # Errors
/// Returns [`Error::LabelOutOfRange`] for the first label that is not a class; the results are not written then.
///
/// # Panics
/// Panics if `classes` is 0, or `logits` and `gradient` are not `labels.len() * classes` long, or `loss` is not as long
/// as `labels`.
pub fn sparse_softmax_cross_entropy<T: Float, L: Label>(
    logits: &[T],
    labels: &[L],
    classes: usize,
    loss: &mut [T],
    gradient: &mut [T],
) -> Result<()> {
    assert!(classes > 0, "at least one class");
    assert_eq!(
        [logits.len(), gradient.len()],
        [labels.len() * classes; 2],
        "logits and gradient are rows of classes"
    );
    assert_eq!(loss.len(), labels.len(), "one loss per label");
    check_labels(labels, classes)?;
    let isa = Isa::current();
    parallel::for_each_row_chunk2(
        (gradient, classes),
        (loss, 1),
        cost::Moderate.grain(),
        |first, gradient, loss| {
            let logits = &logits[first * classes..][..gradient.len()];
            let labels = &labels[first..first + loss.len()];
            isa.vectorize(
                #[inline(always)]
                || {
                    let group = (GROUP / classes).max(1);
                    let blocks = logits
                        .chunks(group * classes)
                        .zip(gradient.chunks_mut(group * classes));
                    for ((x, gradient), (loss, labels)) in
                        blocks.zip(loss.chunks_mut(group).zip(labels.chunks(group)))
                    {
                        compute_rows(x, labels, classes, loss, gradient);
                    }
                },
            );
        },
    );
    Ok(())
}

/// The number of elements in a group of rows. Exponentials are computed for a whole group, so that short rows fill
/// vectors too.
const GROUP: usize = 4096;

#[inline(always)]
fn compute_rows<T: Float, L: Label>(
    x: &[T],
    labels: &[L],
    classes: usize,
    loss: &mut [T],
    gradient: &mut [T],
) {
    for ((x, out), (loss, label)) in x
        .chunks_exact(classes)
        .zip(gradient.chunks_exact_mut(classes))
        .zip(loss.iter_mut().zip(labels))
    {
        let max = fold_row(x, &identity, x[0], &greatest);
        out.iter_mut().zip(x).for_each(
            #[inline(always)]
            |(out, x)| *out = x.minus(max),
        );
        *loss = out[label.to_i64() as usize];
    }
    gradient.iter_mut().for_each(
        #[inline(always)]
        |x| *x = x.exp(),
    );
    for (out, (loss, label)) in gradient
        .chunks_exact_mut(classes)
        .zip(loss.iter_mut().zip(labels))
    {
        let sum = fold_row(out, &identity, T::ZERO, &T::plus);
        out.iter_mut().for_each(
            #[inline(always)]
            |e| *e = e.over(sum),
        );
        *loss = sum.ln().minus(*loss);
        let label = label.to_i64() as usize;
        out[label] = out[label].minus(T::ONE);
    }
}

#[inline(always)]
fn identity<T>(x: T) -> T {
    x
}

fn check_labels<L: Label>(labels: &[L], classes: usize) -> Result<()> {
    let valid = |label: i64| usize::try_from(label).is_ok_and(|label| label < classes);
    let invalid = labels
        .iter()
        .map(|label| label.to_i64())
        .enumerate()
        .find(|(_, label)| !valid(*label));
    invalid.map_or(Ok(()), |(row, label)| {
        Err(Error::LabelOutOfRange {
            row,
            label,
            classes,
        })
    })
}
