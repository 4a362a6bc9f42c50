//! The outputs of a network.

use super::cell::Sums;
use super::pass::Pass;
use super::saved::Saved;
use super::{Network, Steps, product, row, row_mut, scale};
use crate::compute::machine::workspace::Buffer;
use crate::compute::ops::matmul::{Product, Tiled, matmul};
use crate::compute::scalar::elementary::Real;
use std::ops::Range;

/// The results of a network.
pub struct Results<'a, T> {
    /// `time` x `batch` x `directions * units`
    pub output: &'a mut [T],
    /// The last state of each layer and direction, which is the initial one before: `cells` x `batch` x `units`.
    pub state: &'a mut [T],
    /// The last memory of each layer and direction of [`Cell::Lstm`](super::Cell::Lstm), which is the initial one before; empty for
    /// other cells.
    pub memory: &'a mut [T],
    /// [`Network::saved`] elements, after [`Network::set_factors`].
    pub saved: &'a mut [T],
}

/// Computes a network of an input of `time` x `batch` x `input`.
///
/// # Panics
/// Panics if a slice has another length, or a sequence more than `time` steps.
pub fn forward<T: Tiled + Real>(
    network: &Network,
    steps: &Steps<'_>,
    parameters: &[T],
    input: &[T],
    results: Results<'_, T>,
) {
    steps.check();
    assert_eq!(parameters.len(), network.len(), "parameters");
    if network.has_no_output(steps.count()) {
        return;
    }
    let state = steps.batch * network.units;
    let mut states = results.state.chunks_exact_mut(state);
    let mut memories = results.memory.chunks_exact_mut(state);
    let mut below: Option<Buffer<T>> = None;
    let layers = network.split(results.saved, steps.count());
    for (layer, saved) in layers.into_iter().enumerate() {
        if let Some(below) = &mut below {
            scale(below, saved.factors);
        }
        let mut outputs = Buffer::new(steps.count() * network.output());
        for (direction, saved) in saved.directions.into_iter().enumerate() {
            let pass = Pass::new(network, steps, layer, direction);
            let sums = pass.input_sums(parameters, below.as_deref().unwrap_or(input));
            let state = states.next().unwrap_or_default();
            let memory = memories.next().unwrap_or_default();
            let column = direction * network.units;
            let columns = column..column + network.units;
            let of_direction = pass.run(parameters, &sums, [state, memory], saved);
            copy_columns(of_direction, &mut outputs, network.output(), columns);
        }
        below = Some(outputs);
    }
    results
        .output
        .copy_from_slice(&below.unwrap_or(Buffer::new(0)));
}

/// Copies rows of so many columns into rows that have more.
fn copy_columns<T: Copy>(rows: &[T], out: &mut [T], width: usize, columns: Range<usize>) {
    let rows = rows.chunks_exact(columns.len());
    for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
        out[columns.clone()].copy_from_slice(row);
    }
}

impl Pass<'_> {
    /// Returns the sums of the inputs for each step, sequence and gate.
    fn input_sums<T: Tiled + Real>(&self, parameters: &[T], input: &[T]) -> Buffer<T> {
        let (count, rows) = (self.steps.count(), self.rows());
        let mut sums = Buffer::new(count * rows);
        let matrix = &parameters[self.parameters.input.clone()];
        if matrix.is_empty() && !input.is_empty() {
            for (at, gate) in sums.chunks_exact_mut(self.units).enumerate() {
                gate.copy_from_slice(row(input, at / self.cell.gates(), self.units));
            }
            return sums;
        }
        let product = Product {
            transpose_b: true,
            ..product(count, matrix.len() / rows, rows)
        };
        matmul(product, input, matrix, &mut sums);
        sums
    }

    /// Computes all steps, and returns their outputs.
    fn run<'s, T: Tiled + Real>(
        &self,
        parameters: &[T],
        input_sums: &[T],
        [state, memory]: [&mut [T]; 2],
        saved: Saved<&'s mut [T]>,
    ) -> &'s [T] {
        let (steps, rows) = (self.steps, self.rows());
        let product = Product {
            transpose_b: true,
            ..product(steps.batch, self.units, rows)
        };
        let biases = self.parameters.biases.each_ref();
        let biases = biases.map(|it| &parameters[it.clone()]);
        let matrix = &parameters[self.parameters.state.clone()];
        let gates = self.cell.saved_gates() * self.units;
        let mut state_sums = Buffer::new(steps.batch * rows);
        for step in steps.in_order(self.is_reversed) {
            matmul(product, state, matrix, &mut state_sums);
            for sequence in 0..steps.batch {
                let at = step * steps.batch + sequence;
                let output = row_mut(saved.outputs, at, self.units);
                if !steps.is_valid(step, sequence) {
                    output.fill(T::ZERO);
                    continue;
                }
                let sums = Sums {
                    input: row(input_sums, at, rows),
                    state: row(&state_sums, sequence, rows),
                    biases,
                };
                let state = row_mut(state, sequence, self.units);
                let memory = row_mut(memory, sequence, self.memory);
                let gates = row_mut(saved.gates, at, gates);
                self.cell.step(&sums, state, memory, gates);
                output.copy_from_slice(state);
                row_mut(saved.memory, at, self.memory).copy_from_slice(memory);
            }
        }
        saved.outputs
    }
}
