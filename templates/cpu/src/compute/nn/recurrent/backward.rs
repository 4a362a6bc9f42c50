//! The gradients of a network.

use super::cell::{SavedStep, StepGradients};
use super::{Cell, Network, Parameters, Saved, Steps, add, scale, zeros};
use crate::compute::elementary::Real;
use crate::compute::matmul::{Product, Tiled, matmul};
use crate::compute::workspace::Buffer;

/// Where the gradients of a network are written.
pub struct Gradients<'a, T> {
    /// `time` x `batch` x `input`
    pub input: &'a mut [T],
    /// The gradient of the initial states, which is that of the last states before: `cells` x `batch` x `units`.
    pub state: &'a mut [T],
    /// As `state`, of the memories of [`Cell::Lstm`]; empty for other cells.
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
    /// The initial memories of [`Cell::Lstm`]; empty for other cells.
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
    if network.has_no_output(steps) {
        gradients.input.fill(T::ZERO);
        return gradients.parameters.fill(T::ZERO);
    }
    let layers = network.split(computed.saved, steps.count());
    let mut of_outputs: Option<Buffer<T>> = None;
    for (layer, saved) in layers.iter().enumerate().rev() {
        let below = layer.checked_sub(1).map(|it| &layers[it].directions);
        let below = below.map(|it| layer_input(network, steps, it, saved.factors));
        let input = below.as_deref().unwrap_or(computed.input);
        let mut of_input = zeros(input.len());
        for (direction, saved) in saved.directions.iter().enumerate() {
            let cell = layer * network.directions + direction;
            let size = steps.batch * network.units;
            let states = cell * size..(cell + 1) * size;
            let memories = if gradients.memory.is_empty() {
                0..0
            } else {
                states.clone()
            };
            let pass = Pass {
                cell: network.cell,
                steps,
                units: network.units,
                parameters: network.parameters(layer, direction),
                is_reversed: direction == 1,
                initial: [
                    &computed.state[states.clone()],
                    &computed.memory[memories.clone()],
                ],
                saved,
            };
            let columns = (network.output(), direction * network.units);
            let state = [
                &mut gradients.state[states],
                &mut gradients.memory[memories],
            ];
            let of_outputs = of_outputs.as_deref().unwrap_or(output);
            let sums = pass.sums(computed.parameters, of_outputs, columns, state);
            pass.write_parameters(&sums, input, gradients.parameters);
            pass.add_input(&sums[0], computed.parameters, &mut of_input);
        }
        scale(&mut of_input, saved.factors);
        if layer == 0 {
            gradients.input.copy_from_slice(&of_input);
        }
        of_outputs = Some(of_input);
    }
}

/// Returns the input of a layer: the outputs of the layer below, multiplied by the factors.
fn layer_input<T: Real>(
    network: &Network,
    steps: &Steps<'_>,
    directions: &[Saved<&[T]>],
    factors: &[T],
) -> Buffer<T> {
    let units = network.units;
    let mut input = Buffer::new(steps.count() * network.output());
    let rows = (0..steps.count()).flat_map(|at| {
        directions
            .iter()
            .map(move |it| &it.outputs[at * units..][..units])
    });
    for (out, row) in input.chunks_exact_mut(units.max(1)).zip(rows) {
        out.copy_from_slice(row);
    }
    scale(&mut input, factors);
    input
}

/// One direction of a layer.
struct Pass<'a, T> {
    cell: Cell,
    steps: &'a Steps<'a>,
    units: usize,
    parameters: Parameters,
    is_reversed: bool,
    /// The initial state and memory.
    initial: [&'a [T]; 2],
    saved: &'a Saved<&'a [T]>,
}

impl<T: Tiled + Real> Pass<'_, T> {
    fn rows(&self) -> usize {
        self.cell.gates() * self.units
    }

    /// Returns the gradients of the gates' sums of the inputs and of the state. `columns` is the width of a row of `output`, and
    /// the first column of this direction. The gradients of state and memory become those of the initial ones.
    fn sums(
        &self,
        parameters: &[T],
        output: &[T],
        (width, column): (usize, usize),
        [state, memory]: [&mut [T]; 2],
    ) -> [Buffer<T>; 2] {
        let (steps, units, rows) = (self.steps, self.units, self.rows());
        let mut sums = [0, 1].map(|_| zeros(steps.count() * rows));
        let memory_units = if memory.is_empty() { 0 } else { units };
        let matrix = &parameters[self.parameters.state.clone()];
        let product = Product {
            m: steps.batch,
            k: rows,
            n: units,
            transpose_a: false,
            transpose_b: false,
        };
        let mut before = Buffer::new(steps.batch * units);
        for step in steps.in_order(self.is_reversed).rev() {
            let first = step * steps.batch;
            for sequence in (0..steps.batch).filter(|it| steps.is_valid(step, *it)) {
                let at = first + sequence;
                let state = &mut state[sequence * units..][..units];
                let of_output = &output[at * width + column..][..units];
                add(state, of_output);
                let [input_sums, state_sums] =
                    sums.each_mut().map(|it| &mut it[at * rows..][..rows]);
                let gradients = StepGradients {
                    output: state,
                    memory: &mut memory[sequence * memory_units..][..memory_units],
                    input_sums,
                    state_sums,
                };
                self.cell
                    .gradients(&self.saved_step(step, sequence), gradients);
            }
            let of_step = &sums[1][first * rows..(first + steps.batch) * rows];
            // The rows of sequences that have ended are zeros.
            matmul(product, of_step, matrix, &mut before);
            add(state, &before);
        }
        sums
    }

    fn saved_step(&self, step: usize, sequence: usize) -> SavedStep<'_, T> {
        let units = self.units;
        let gates = self.cell.saved_gates() * units;
        let at = step * self.steps.batch + sequence;
        let memory_units = if self.saved.memory.is_empty() {
            0
        } else {
            units
        };
        let memory = |at: usize| &self.saved.memory[at * memory_units..][..memory_units];
        let previous = match self.steps.previous(step, sequence, self.is_reversed) {
            Some(step) => {
                let at = step * self.steps.batch + sequence;
                [memory(at), &self.saved.outputs[at * units..][..units]]
            }
            None => {
                let [state, memories] = self.initial;
                let memory = &memories[sequence * memory_units..][..memory_units];
                [memory, &state[sequence * units..][..units]]
            }
        };
        SavedStep {
            gates: &self.saved.gates[at * gates..][..gates],
            memory: memory(at),
            output: &self.saved.outputs[at * units..][..units],
            previous,
        }
    }

    /// Writes the gradients of the parameters of this layer and direction.
    fn write_parameters(&self, sums: &[Buffer<T>; 2], input: &[T], out: &mut [T]) {
        let (count, rows) = (self.steps.count(), self.rows());
        let outer = |columns: usize| Product {
            m: rows,
            k: count,
            n: columns,
            transpose_a: true,
            transpose_b: false,
        };
        let matrix = &mut out[self.parameters.input.clone()];
        if !matrix.is_empty() {
            matmul(outer(matrix.len() / rows), &sums[0], input, matrix);
        }
        let previous = self.previous_outputs();
        let matrix = &mut out[self.parameters.state.clone()];
        matmul(outer(self.units), &sums[1], &previous, matrix);
        for (sums, biases) in sums.iter().zip(&self.parameters.biases) {
            let biases = &mut out[biases.clone()];
            biases.fill(T::ZERO);
            for row in sums.chunks_exact(rows.max(1)) {
                add(biases, row);
            }
        }
    }

    /// Returns the output before each step.
    fn previous_outputs(&self) -> Buffer<T> {
        let mut outputs = Buffer::new(self.saved.outputs.len());
        let rows = outputs.chunks_exact_mut(self.units.max(1)).enumerate();
        for (at, out) in rows {
            let [_, output] = self
                .saved_step(at / self.steps.batch, at % self.steps.batch)
                .previous;
            out.copy_from_slice(output);
        }
        outputs
    }

    /// Adds the gradient of the input.
    fn add_input(&self, sums: &[T], parameters: &[T], out: &mut [T]) {
        let matrix = &parameters[self.parameters.input.clone()];
        if matrix.is_empty() {
            let rows = sums.chunks_exact(self.rows().max(1));
            for (sums, out) in rows.zip(out.chunks_exact_mut(self.units.max(1))) {
                for gate in sums.chunks_exact(self.units.max(1)) {
                    add(out, gate);
                }
            }
            return;
        }
        let product = Product {
            m: self.steps.count(),
            k: self.rows(),
            n: matrix.len() / self.rows(),
            transpose_a: false,
            transpose_b: false,
        };
        let mut added = Buffer::new(out.len());
        matmul(product, sums, matrix, &mut added);
        add(out, &added);
    }
}
