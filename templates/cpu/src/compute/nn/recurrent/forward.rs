//! The outputs of a network.

use super::cell::Sums;
use super::{Cell, Network, Parameters, Saved, Steps, scale};
use crate::compute::elementary::Real;
use crate::compute::matmul::{Product, Tiled, matmul};
use crate::compute::workspace::Buffer;
use std::ops::Range;

/// Where the results of a network are written.
pub struct Results<'a, T> {
    /// `time` x `batch` x `directions * units`
    pub output: &'a mut [T],
    /// The last state of each layer and direction, which is the initial one before: `cells` x `batch` x `units`.
    pub state: &'a mut [T],
    /// The last memory of each layer and direction of [`Cell::Lstm`], which is the initial one before; empty for other cells.
    pub memory: &'a mut [T],
    /// [`Network::saved`] elements. For each layer but the first those of its inputs are factors before, by which the inputs are
    /// multiplied.
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
    if network.has_no_output(steps) {
        return;
    }
    let state = steps.batch * network.units;
    let mut states = results.state.chunks_exact_mut(state);
    let mut memories = results.memory.chunks_exact_mut(state);
    let mut below: Option<Buffer<T>> = None;
    let layers = network.split(results.saved, steps.count());
    let last = layers.len() - 1;
    for (layer, saved) in layers.into_iter().enumerate() {
        if let Some(below) = &mut below {
            scale(below, saved.factors);
        }
        let mut outputs = Buffer::new(steps.count() * network.output());
        for (direction, saved) in saved.directions.into_iter().enumerate() {
            let pass = Pass {
                cell: network.cell,
                steps,
                units: network.units,
                parameters: network.parameters(layer, direction),
                is_reversed: direction == 1,
            };
            let sums = pass.input_sums(parameters, below.as_deref().unwrap_or(input));
            let state = states.next().unwrap_or_default();
            let memory = memories.next().unwrap_or_default();
            let column = direction * network.units;
            let columns = column..column + network.units;
            let of_direction = pass.run(parameters, &sums, [state, memory], saved);
            copy_columns(of_direction, &mut outputs, network.output(), columns);
        }
        if layer == last {
            results.output.copy_from_slice(&outputs);
        }
        below = Some(outputs);
    }
}

/// Copies rows of so many columns into rows that have more.
fn copy_columns<T: Copy>(rows: &[T], out: &mut [T], width: usize, columns: Range<usize>) {
    if columns.is_empty() {
        return;
    }
    let rows = rows.chunks_exact(columns.len());
    for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
        out[columns.clone()].copy_from_slice(row);
    }
}

/// One direction of a layer.
struct Pass<'a> {
    cell: Cell,
    steps: &'a Steps<'a>,
    units: usize,
    parameters: Parameters,
    is_reversed: bool,
}

impl Pass<'_> {
    fn rows(&self) -> usize {
        self.cell.gates() * self.units
    }

    /// Returns the sums of the inputs for each step, sequence and gate.
    fn input_sums<T: Tiled + Real>(&self, parameters: &[T], input: &[T]) -> Buffer<T> {
        let mut sums = Buffer::new(self.steps.count() * self.rows());
        let matrix = &parameters[self.parameters.input.clone()];
        if matrix.is_empty() && self.rows() > 0 && !input.is_empty() {
            let gates = self.cell.gates();
            let rows = sums
                .chunks_exact_mut(self.rows())
                .zip(input.chunks_exact(self.units));
            rows.for_each(|(sums, row)| {
                (0..gates)
                    .for_each(|gate| sums[gate * self.units..][..self.units].copy_from_slice(row))
            });
            return sums;
        }
        let product = Product {
            m: self.steps.count(),
            k: matrix.len() / self.rows().max(1),
            n: self.rows(),
            transpose_a: false,
            transpose_b: true,
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
        let (steps, units, rows) = (self.steps, self.units, self.rows());
        let product = Product {
            m: steps.batch,
            k: units,
            n: rows,
            transpose_a: false,
            transpose_b: true,
        };
        let biases = self.parameters.biases.each_ref();
        let biases = biases.map(|it| &parameters[it.clone()]);
        let matrix = &parameters[self.parameters.state.clone()];
        let gates = self.cell.saved_gates() * units;
        let memory_units = if memory.is_empty() { 0 } else { units };
        let mut state_sums = Buffer::new(steps.batch * rows);
        for step in steps.in_order(self.is_reversed) {
            matmul(product, state, matrix, &mut state_sums);
            for sequence in 0..steps.batch {
                let at = step * steps.batch + sequence;
                let output = &mut saved.outputs[at * units..][..units];
                if !steps.is_valid(step, sequence) {
                    output.fill(T::ZERO);
                    continue;
                }
                let sums = Sums {
                    input: &input_sums[at * rows..][..rows],
                    state: &state_sums[sequence * rows..][..rows],
                    biases,
                };
                let state = &mut state[sequence * units..][..units];
                let memory = &mut memory[sequence * memory_units..][..memory_units];
                let gates = &mut saved.gates[at * gates..][..gates];
                self.cell.step(&sums, state, memory, gates);
                output.copy_from_slice(state);
                saved.memory[at * memory_units..][..memory_units].copy_from_slice(memory);
            }
        }
        saved.outputs
    }
}
