//! The elements that a network saves for its gradients.

use super::Network;
use sp_plugin::allocation;

/// The elements that a layer and direction saves.
pub(super) struct Saved<S> {
    pub gates: S,
    pub memory: S,
    pub outputs: S,
}

/// The elements that a layer saves: the factors of its inputs, and those of each direction.
pub(super) struct SavedLayer<S> {
    pub factors: S,
    pub directions: Vec<Saved<S>>,
}

/// A slice that is divided from its start.
pub(super) trait Split {
    /// Returns the first elements, and keeps the others.
    fn take_first(&mut self, count: usize) -> Self;
}

impl<T> Split for &[T] {
    fn take_first(&mut self, count: usize) -> Self {
        let (first, rest) = self.split_at(count);
        *self = rest;
        first
    }
}

impl<T> Split for &mut [T] {
    fn take_first(&mut self, count: usize) -> Self {
        let (first, rest) = std::mem::take(self).split_at_mut(count);
        *self = rest;
        first
    }
}

impl Network {
    /// Returns the number of elements that [`forward`](super::forward) saves for [`backward`](super::backward) for so many steps of all sequences, or `None` if it is
    /// above 2^62.
    pub fn saved(&self, steps: usize) -> Option<usize> {
        let of_step = self.cells() * self.saved_of_cell() + (self.layers - 1) * self.output();
        of_step.checked_mul(steps).filter(|it| *it <= 1 << 62)
    }

    /// Returns the number of elements that a step of a layer and direction saves: its gates, its state and its output.
    fn saved_of_cell(&self) -> usize {
        (self.cell.saved_gates() + 1) * self.units + self.memory()
    }

    /// Writes the factors by which the inputs of each layer but the first are multiplied; `draw` is called once for each of them.
    ///
    /// # Panics
    /// Panics if `saved` has another length than [`saved`](Self::saved) returns for so many steps.
    pub fn set_factors<T>(&self, saved: &mut [T], steps: usize, mut draw: impl FnMut(&mut [T])) {
        if self.has_no_output(steps) {
            return;
        }
        let layers = self.split(saved, steps);
        layers.into_iter().skip(1).for_each(|it| draw(it.factors));
    }

    /// Divides the elements that are saved.
    pub(super) fn split<S: Split>(&self, mut saved: S, steps: usize) -> Vec<SavedLayer<S>> {
        let mut take = |count: usize| saved.take_first(count * steps);
        let layers = (0..self.layers).map(|layer| SavedLayer {
            factors: take(if layer == 0 { 0 } else { self.output() }),
            directions: (0..self.directions)
                .map(|_| Saved {
                    gates: take(self.cell.saved_gates() * self.units),
                    memory: take(self.memory()),
                    outputs: take(self.units),
                })
                .collect(),
        });
        allocation::collect(layers)
    }
}
