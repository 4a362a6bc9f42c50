//! The connectionist temporal classification loss (Graves et al., 2006) of one sequence, and its gradient.

use crate::compute::machine::workspace::Buffer;
use sp_plugin::allocation;

/// The treatment of repeated labels.
#[derive(Clone, Copy, Debug)]
pub struct Repeats {
    /// True if repeated labels of the target are one before the loss is computed.
    pub are_collapsed: bool,
    /// True if repeated outputs without a blank between them are one.
    pub are_merged: bool,
}

/// The classes of a path through the target: a blank before each label, and one after the last.
struct Path {
    classes: Vec<usize>,
    blank: usize,
    are_merged: bool,
}

impl Path {
    fn new(labels: &[usize], blank: usize, repeats: Repeats) -> Self {
        let mut labels = allocation::copied(labels);
        if repeats.are_collapsed {
            labels.dedup();
        }
        let mut classes = allocation::filled(blank, 2 * labels.len() + 1);
        let places = classes.iter_mut().skip(1).step_by(2);
        places.zip(labels).for_each(|(place, it)| *place = it);
        let are_merged = repeats.are_merged;
        Self {
            classes,
            blank,
            are_merged,
        }
    }

    fn len(&self) -> usize {
        self.classes.len()
    }

    /// Returns the positions from which a step to this one is possible.
    fn sources(&self, to: usize) -> impl Iterator<Item = usize> {
        let class = self.classes[to];
        let stays = self.are_merged || class == self.blank;
        let skips =
            to >= 2 && class != self.blank && !(self.are_merged && class == self.classes[to - 2]);
        let sources = [
            stays.then_some(to),
            to.checked_sub(1),
            skips.then(|| to - 2),
        ];
        sources.into_iter().flatten()
    }

    /// Returns the logarithm of 1 if a sequence can begin at the position, or end as far before the last one, else of 0.
    fn log_of_boundary(position: usize) -> f64 {
        if position < 2 { 0.0 } else { f64::NEG_INFINITY }
    }
}

/// Returns the loss of a sequence: minus the logarithm of the probability of the labels, which is infinite if no outputs of so many
/// steps have them. `logits` has the rows of the sequence's steps, of so many `classes` each. The gradient of the logits is written to
/// the rows of `gradient`; for an infinite loss it is the probability of each class, as on TensorFlow's CPU.
///
/// # Panics
/// Panics if the slices have different lengths or no whole rows, if there are no classes, or a label or the blank is none of them.
pub fn ctc_loss(
    logits: &[f32],
    classes: usize,
    labels: &[usize],
    blank: usize,
    repeats: Repeats,
    gradient: &mut [f32],
) -> f32 {
    assert_eq!(logits.len(), gradient.len(), "a gradient of another length");
    assert!(logits.len().is_multiple_of(classes), "a part of a row");
    let steps = logits.len() / classes;
    let path = Path::new(labels, blank, repeats);
    let probabilities = log_probabilities(logits, classes);
    let emitted =
        |step: usize, position: usize| probabilities[step * classes + path.classes[position]];
    let before = forward(&path, steps, emitted);
    let total = match steps {
        0 if path.len() == 1 => 0.0,
        0 => f64::NEG_INFINITY,
        _ => {
            let last = &before[(steps - 1) * path.len()..];
            last[path.len().saturating_sub(2)..]
                .iter()
                .fold(f64::NEG_INFINITY, |sum, it| log_sum(sum, *it))
        }
    };
    if total == f64::NEG_INFINITY {
        let pairs = gradient.iter_mut().zip(&*probabilities);
        pairs.for_each(|(out, it)| *out = it.exp() as f32);
        return f32::INFINITY;
    }
    let steps = probabilities
        .chunks_exact(classes)
        .zip(before.chunks_exact(path.len()));
    write_gradient(&path, classes, steps, total, gradient);
    -total as f32
}

/// Returns the logarithm of the probability of each class at each step.
fn log_probabilities(logits: &[f32], classes: usize) -> Buffer<f64> {
    let mut out = Buffer::new(logits.len());
    let rows = logits.chunks_exact(classes);
    for (row, out) in rows.zip(out.chunks_exact_mut(classes)) {
        let largest = row
            .iter()
            .fold(f64::NEG_INFINITY, |max, it| max.max(f64::from(*it)));
        let sum: f64 = row.iter().map(|it| (f64::from(*it) - largest).exp()).sum();
        let normalizer = largest + sum.ln();
        out.iter_mut()
            .zip(row)
            .for_each(|(out, it)| *out = f64::from(*it) - normalizer);
    }
    out
}

/// Returns the logarithm of a sum of two numbers, from their logarithms.
fn log_sum(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    match small == f64::NEG_INFINITY {
        true => large,
        false => large + (small - large).exp().ln_1p(),
    }
}

/// Returns the logarithms of the probabilities of the steps up to each one that end at each position.
fn forward(path: &Path, steps: usize, emitted: impl Fn(usize, usize) -> f64) -> Buffer<f64> {
    let len = path.len();
    let mut sums = Buffer::new(steps * len);
    sums.fill(f64::NEG_INFINITY);
    for step in 0..steps {
        for position in 0..len {
            let sum = match step {
                0 => Path::log_of_boundary(position),
                _ => {
                    let row = &sums[(step - 1) * len..][..len];
                    path.sources(position)
                        .fold(f64::NEG_INFINITY, |sum, it| log_sum(sum, row[it]))
                }
            };
            sums[step * len + position] = sum + emitted(step, position);
        }
    }
    sums
}

/// Writes the gradient: the probability of each class less that part of it which paths of the labels have. A step has the logarithms
/// of the probabilities of its classes, and of those of the paths that end at each position.
fn write_gradient<'a>(
    path: &Path,
    classes: usize,
    steps: impl DoubleEndedIterator<Item = (&'a [f64], &'a [f64])>,
    total: f64,
    gradient: &mut [f32],
) {
    let (len, rows) = (path.len(), gradient.chunks_exact_mut(classes).rev());
    // The logarithms of the probabilities of the steps after this one, from each position.
    let after = (0..len).map(|it| Path::log_of_boundary(len - 1 - it));
    let mut after = allocation::collect(after);
    let mut earlier = allocation::filled(0.0, len);
    let mut expected = allocation::filled(0.0, classes);
    for ((probabilities, before), row) in steps.rev().zip(rows) {
        expected.fill(0.0);
        earlier.fill(f64::NEG_INFINITY);
        for (position, class) in path.classes.iter().enumerate() {
            expected[*class] += (before[position] + after[position] - total).exp();
            let next = after[position] + probabilities[*class];
            let sources = path.sources(position);
            sources.for_each(|it| earlier[it] = log_sum(earlier[it], next));
        }
        for ((out, probability), expected) in row.iter_mut().zip(probabilities).zip(&expected) {
            *out = (probability.exp() - expected) as f32;
        }
        std::mem::swap(&mut after, &mut earlier);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MERGED: Repeats = Repeats {
        are_collapsed: false,
        are_merged: true,
    };
    const CLASSES: usize = 3;

    /// Returns the loss by the sum over all sequences of outputs.
    fn loss_of_all_paths(logits: &[f32], labels: &[usize], repeats: Repeats) -> f64 {
        let steps = logits.len() / CLASSES;
        let logs = log_probabilities(logits, CLASSES);
        let mut target = labels.to_vec();
        if repeats.are_collapsed {
            target.dedup();
        }
        let mut total = 0.0;
        for index in 0..CLASSES.pow(steps as u32) {
            let outputs: Vec<usize> = (0..steps)
                .map(|it| index / CLASSES.pow(it as u32) % CLASSES)
                .collect();
            let mut found = outputs.clone();
            if repeats.are_merged {
                found.dedup();
            }
            found.retain(|it| *it != 0);
            if found == target {
                let log: f64 = outputs
                    .iter()
                    .enumerate()
                    .map(|(step, it)| logs[step * CLASSES + it])
                    .sum();
                total += log.exp();
            }
        }
        -total.ln()
    }

    fn logits(steps: usize) -> Vec<f32> {
        (0..steps * CLASSES)
            .map(|it| ((it * 7 + 3) % 11) as f32 / 4.0 - 1.0)
            .collect()
    }

    #[test]
    fn loss_is_that_of_all_paths() {
        for (are_collapsed, are_merged) in [(false, true), (true, true), (false, false)] {
            let repeats = Repeats {
                are_collapsed,
                are_merged,
            };
            for labels in [&[][..], &[1], &[1, 2], &[2, 2], &[1, 1, 2]] {
                let logits = logits(5);
                let mut gradient = vec![f32::NAN; logits.len()];
                let found = ctc_loss(&logits, CLASSES, labels, 0, repeats, &mut gradient);
                let expected = loss_of_all_paths(&logits, labels, repeats);
                assert!(
                    (f64::from(found) - expected).abs() < 1e-5,
                    "{labels:?} {repeats:?}"
                );
                for at in 0..logits.len() {
                    let moved = |by: f32| {
                        let mut logits = logits.clone();
                        logits[at] += by;
                        loss_of_all_paths(&logits, labels, repeats)
                    };
                    let slope = (moved(1.0 / 512.0) - moved(-1.0 / 512.0)) * 256.0;
                    assert!(
                        (slope - f64::from(gradient[at])).abs() < 1e-4,
                        "{labels:?} {at}"
                    );
                }
            }
        }
    }

    #[test]
    fn loss_is_infinite_with_fewer_steps_than_labels() {
        let logits = logits(2);
        let mut gradient = vec![f32::NAN; logits.len()];
        // The repeated label needs a blank between them.
        let loss = ctc_loss(&logits, CLASSES, &[1, 1], 0, MERGED, &mut gradient);
        assert_eq!(loss, f32::INFINITY);
        let sums = gradient
            .chunks_exact(CLASSES)
            .map(|it| it.iter().sum::<f32>());
        assert!(sums.into_iter().all(|it| (it - 1.0).abs() < 1e-6));
        assert_eq!(
            ctc_loss(&[], CLASSES, &[1], 0, MERGED, &mut []),
            f32::INFINITY
        );
        assert_eq!(ctc_loss(&[], CLASSES, &[], 0, MERGED, &mut []), 0.0);
    }
}
