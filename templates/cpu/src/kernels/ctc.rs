//! The loss of sequences whose labels have no positions. TensorFlow's Python chooses the op for a device of type GPU; the first
//! class is the blank.

use super::prelude::*;
use crate::compute::nn::ctc::{Repeats, ctc_loss};
use crate::compute::workspace::Buffer;

/// The class of the outputs between labels.
const BLANK: usize = 0;

#[derive(Attributes)]
struct CtcAttributes {
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
}

struct Ctc {
    repeats: Repeats,
    /// True if a sequence with more labels than steps has a loss of 0.
    ignores_longer_outputs: bool,
}

impl Prepare for Ctc {
    type Attributes = CtcAttributes;

    fn prepare(it: CtcAttributes) -> Result<Self> {
        Ok(Self {
            repeats: Repeats {
                are_collapsed: it.preprocess_collapse_repeated,
                are_merged: it.ctc_merge_repeated,
            },
            ignores_longer_outputs: it.ignore_longer_outputs_than_inputs,
        })
    }
}

#[kernel(CTCLossV2)]
fn loss(
    #[state] ctc: &Ctc,
    inputs: In<'_, f32>,
    labels_indices: HostIn<'_, i64>,
    labels_values: HostIn<'_, i32>,
    sequence_length: HostIn<'_, i32>,
    loss: Out<'_, f32>,
    gradient: Out<'_, f32>,
) -> Result<()> {
    let &[time, batch, classes] = inputs.dims() else {
        return invalid(format!(
            "inputs must be rank 3, not of shape {}",
            Dims(inputs.dims())
        ));
    };
    if classes == 0 {
        return invalid("inputs must have one class or more".into());
    }
    let lengths = read_lengths(&sequence_length, time, batch)?;
    let labels = read_labels(&labels_indices, &labels_values, batch, classes)?;
    let mut loss = loss.zeroed(&[batch])?;
    let mut gradient = gradient.zeroed(&[time, batch, classes])?;
    for sequence in 0..batch {
        let (labels, steps) = (&labels[sequence], lengths[sequence]);
        if labels.len() > steps {
            if ctc.ignores_longer_outputs {
                continue;
            }
            return invalid(format!(
                "Not enough time for target transition sequence (required: {}, available: {steps})",
                labels.len()
            ));
        }
        let row = |step: usize| {
            (step * batch + sequence) * classes..(step * batch + sequence + 1) * classes
        };
        let mut logits = Buffer::new(steps * classes);
        for (step, of_step) in logits.chunks_exact_mut(classes).enumerate() {
            of_step.copy_from_slice(&inputs.data()[row(step)]);
        }
        let mut of_logits = Buffer::new(logits.len());
        loss[sequence] = ctc_loss(&logits, classes, labels, BLANK, ctc.repeats, &mut of_logits);
        for (step, of_step) in of_logits.chunks_exact(classes).enumerate() {
            gradient[row(step)].copy_from_slice(of_step);
        }
    }
    Ok(())
}

fn invalid<T>(message: String) -> Result<T> {
    Err(Error::invalid_argument(message))
}

fn read_lengths(lengths: &HostIn<'_, i32>, time: usize, batch: usize) -> Result<Vec<usize>> {
    if lengths.dims() != [batch] {
        return invalid(format!(
            "sequence_length must be a vector of {batch} elements, not of shape {}",
            Dims(lengths.dims())
        ));
    }
    let read = |length: &i32| usize::try_from(*length).ok().filter(|it| *it <= time);
    let found = lengths.data().iter().map(|it| read(it).ok_or(()));
    allocation::try_collect(found)
        .or_else(|()| invalid(format!("sequence_length must be between 0 and {time}")))
}

/// Returns the labels of each sequence.
fn read_labels(
    indices: &HostIn<'_, i64>,
    values: &HostIn<'_, i32>,
    batch: usize,
    classes: usize,
) -> Result<Vec<Vec<usize>>> {
    if values.dims().len() != 1 || indices.dims() != [values.data().len(), 2] {
        return invalid(format!(
            "labels_indices of shape {} must have two columns and a row for each of {} values",
            Dims(indices.dims()),
            values.data().len()
        ));
    }
    let mut labels = allocation::filled(Vec::new(), batch);
    for (index, value) in indices.data().chunks_exact(2).zip(values.data()) {
        let sequence = usize::try_from(index[0]).ok().filter(|it| *it < batch);
        let label = usize::try_from(*value)
            .ok()
            .filter(|it| *it != BLANK && *it < classes);
        match (sequence, label) {
            (Some(sequence), Some(label)) => allocation::push(&mut labels[sequence], label),
            (None, _) => {
                return invalid(format!(
                    "labels_indices has the sequence {}, of {batch}",
                    index[0]
                ));
            }
            _ => {
                return invalid(format!(
                    "label {value} is not between 1 and {}",
                    classes.saturating_sub(1)
                ));
            }
        }
    }
    Ok(labels)
}

table! { loss }
