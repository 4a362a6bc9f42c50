//! The gradients of a network.

use super::cell::{SavedStep, StepGradients};
use super::pass::Pass;
use super::saved::Saved;
use super::{Network, Steps, add, product, row, row_mut, scale, zeros};
use crate::compute::machine::workspace::Buffer;
use crate::compute::ops::matmul::{Product, Tiled, matmul};
use crate::compute::scalar::elementary::Real;

/// The gradients of a network.
pub struct Gradients<'a, T> {
    /// `time` x `batch` x `input`
    pub input: &'a mut [T],
    /// The gradient of the initial states, which is that of the last states before: `cells` x `batch` x `units`.
    pub state: &'a mut [T],
    /// As `state`, of the memories of [`Cell::Lstm`](super::Cell::Lstm); empty for other cells.
    pub memory: &'a mut [T],
    /// All are written.
    pub parameters: &'a mut [T],
}

/// The operands and what [`forward`](super::forward) has saved.
pub struct Computed<'a, T> {
    /// The parameters of the network.
    pub parameters: &'a [T],
    /// `time` x `batch` x `input`
    pub input: &'a [T],
    /// The initial states: `cells` x `batch` x `units`.
    pub state: &'a [T],
    /// The initial memories of [`Cell::Lstm`](super::Cell::Lstm); empty for other cells.
    pub memory: &'a [T],
    /// [`Network::saved`] elements.
    pub saved: &'a [T],
}

/// Computes the gradients of a network from that of its output, `time` x `batch` x `directions * units`.
///
/// # Panics
/// Panics if a slice has another length, or a sequence more than `time` steps.
pub fn backward<T: Tiled + Real>(
    network: &Network,
    steps: &Steps<'_>,
    computed: &Computed<'_, T>,
    output: &[T],
    gradients: Gradients<'_, T>,
) {
    steps.check();
    assert_eq!(computed.parameters.len(), network.len(), "parameters");
    if network.has_no_output(steps.count()) {
        gradients.input.fill(T::ZERO);
        return gradients.parameters.fill(T::ZERO);
    }
    let layers = network.split(computed.saved, steps.count());
    let [states, memories] = [network.units, network.memory()].map(|it| steps.batch * it);
    let mut of_outputs: Option<Buffer<T>> = None;
    for (layer, saved) in layers.iter().enumerate().rev() {
        let below = layer.checked_sub(1).map(|it| &layers[it].directions);
        let below = below.map(|it| layer_input(network, it, saved.factors));
        let input = below.as_deref().unwrap_or(computed.input);
        let mut of_input = zeros(input.len());
        for (direction, saved) in saved.directions.iter().enumerate() {
            let cell = layer * network.directions + direction;
            let pass = BackwardPass {
                pass: Pass::new(network, steps, layer, direction),
                initial: [
                    row(computed.memory, cell, memories),
                    row(computed.state, cell, states),
                ],
                saved,
            };
            let columns = (network.output(), direction * network.units);
            let state = row_mut(gradients.state, cell, states);
            let memory = row_mut(gradients.memory, cell, memories);
            let of_outputs = of_outputs.as_deref().unwrap_or(output);
            let sums = pass.sums(computed.parameters, of_outputs, columns, [state, memory]);
            pass.write_parameters(&sums, input, gradients.parameters);
            pass.add_input(&sums[0], computed.parameters, &mut of_input);
        }
        scale(&mut of_input, saved.factors);
        of_outputs = Some(of_input);
    }
    gradients
        .input
        .copy_from_slice(&of_outputs.unwrap_or(Buffer::new(0)));
}

/// Returns the input of a layer: the outputs of the layer below, multiplied by the factors.
fn layer_input<T: Real>(network: &Network, directions: &[Saved<&[T]>], factors: &[T]) -> Buffer<T> {
    let mut input = Buffer::new(factors.len());
    for (at, out) in input.chunks_exact_mut(network.units).enumerate() {
        let (step, direction) = (at / network.directions, at % network.directions);
        out.copy_from_slice(row(directions[direction].outputs, step, network.units));
    }
    scale(&mut input, factors);
    input
}

/// The gradients of a direction of a layer.
struct BackwardPass<'a, T> {
    pass: Pass<'a>,
    /// The initial memory and state.
    initial: [&'a [T]; 2],
    saved: &'a Saved<&'a [T]>,
}

impl<T: Tiled + Real> BackwardPass<'_, T> {
    /// Returns the gradients of the gates' sums of the inputs and of the state. `columns` is the width of a row of `output`, and
    /// the first column of this direction. The gradients of state and memory become those of the initial ones.
    fn sums(
        &self,
        parameters: &[T],
        output: &[T],
        (width, column): (usize, usize),
        [state, memory]: [&mut [T]; 2],
    ) -> [Buffer<T>; 2] {
        let Pass { steps, units, .. } = self.pass;
        let rows = self.pass.rows();
        let mut sums = [0, 1].map(|_| zeros(steps.count() * rows));
        let matrix = &parameters[self.pass.parameters.state.clone()];
        let product = product(steps.batch, rows, units);
        let mut before = Buffer::new(steps.batch * units);
        for step in steps.in_order(self.pass.is_reversed).rev() {
            for sequence in (0..steps.batch).filter(|it| steps.is_valid(step, *it)) {
                let at = step * steps.batch + sequence;
                let state = row_mut(state, sequence, units);
                add(state, &row(output, at, width)[column..][..units]);
                let [input_sums, state_sums] = sums.each_mut().map(|it| row_mut(it, at, rows));
                let gradients = StepGradients {
                    output: state,
                    memory: row_mut(memory, sequence, self.pass.memory),
                    input_sums,
                    state_sums,
                };
                let saved = self.saved_step(step, sequence);
                self.pass.cell.gradients(&saved, gradients);
            }
            // The rows of sequences that have ended are zeros.
            let of_step = row(&sums[1], step, steps.batch * rows);
            matmul(product, of_step, matrix, &mut before);
            add(state, &before);
        }
        sums
    }

    fn saved_step(&self, step: usize, sequence: usize) -> SavedStep<'_, T> {
        let (pass, saved) = (&self.pass, self.saved);
        let at = step * pass.steps.batch + sequence;
        let computed = [saved.memory, saved.outputs];
        let [memory, output] = pass.rows_of(computed, at);
        let previous = match pass.steps.previous(step, sequence, pass.is_reversed) {
            Some(step) => pass.rows_of(computed, step * pass.steps.batch + sequence),
            None => pass.rows_of(self.initial, sequence),
        };
        SavedStep {
            gates: row(saved.gates, at, pass.cell.saved_gates() * pass.units),
            memory,
            output,
            previous,
        }
    }

    /// Writes the gradients of the parameters of this layer and direction.
    fn write_parameters(&self, sums: &[Buffer<T>; 2], input: &[T], out: &mut [T]) {
        let (count, rows) = (self.pass.steps.count(), self.pass.rows());
        let outer = |columns: usize| Product {
            transpose_a: true,
            ..product(rows, count, columns)
        };
        let matrix = &mut out[self.pass.parameters.input.clone()];
        if !matrix.is_empty() {
            matmul(outer(matrix.len() / rows), &sums[0], input, matrix);
        }
        let previous = self.previous_outputs();
        let matrix = &mut out[self.pass.parameters.state.clone()];
        matmul(outer(self.pass.units), &sums[1], &previous, matrix);
        for (sums, biases) in sums.iter().zip(&self.pass.parameters.biases) {
            let biases = &mut out[biases.clone()];
            biases.fill(T::ZERO);
            sums.chunks_exact(rows).for_each(|row| add(biases, row));
        }
    }

    /// Returns the output before each step.
    fn previous_outputs(&self) -> Buffer<T> {
        let batch = self.pass.steps.batch;
        let mut outputs = Buffer::new(self.saved.outputs.len());
        for (at, out) in outputs.chunks_exact_mut(self.pass.units).enumerate() {
            let [_, output] = self.saved_step(at / batch, at % batch).previous;
            out.copy_from_slice(output);
        }
        outputs
    }

    /// Adds the gradient of the input.
    fn add_input(&self, sums: &[T], parameters: &[T], out: &mut [T]) {
        let (rows, units) = (self.pass.rows(), self.pass.units);
        let matrix = &parameters[self.pass.parameters.input.clone()];
        if matrix.is_empty() {
            for (sums, out) in sums.chunks_exact(rows).zip(out.chunks_exact_mut(units)) {
                sums.chunks_exact(units).for_each(|gate| add(out, gate));
            }
            return;
        }
        let mut added = Buffer::new(out.len());
        let product = product(self.pass.steps.count(), rows, matrix.len() / rows);
        matmul(product, sums, matrix, &mut added);
        add(out, &added);
    }
}
