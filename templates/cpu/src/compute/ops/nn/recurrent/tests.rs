use super::*;

const CELLS: [Cell; 5] = [
    Cell::Relu,
    Cell::Tanh,
    Cell::Lstm,
    Cell::Gru,
    Cell::GruUpdateFirst,
];

/// Numbers between -0.5 and 0.5 without a pattern.
fn numbers(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..len).map(|_| next()).collect()
}

fn network(cell: Cell, layers: usize, is_bidirectional: bool, skips_input: bool) -> Network {
    let sizes = Sizes {
        layers,
        input: if skips_input { 3 } else { 2 },
        units: 3,
        is_bidirectional,
        skips_input,
    };
    Network::new(cell, sizes).unwrap()
}

/// The operands of a call, with factors of 0 and 2 between layers.
struct Example {
    network: Network,
    lengths: Vec<usize>,
    time: usize,
    parameters: Vec<f64>,
    input: Vec<f64>,
    state: Vec<f64>,
    memory: Vec<f64>,
}

impl Example {
    fn new(network: Network, lengths: &[usize], time: usize) -> Self {
        let states = network.cells() * lengths.len() * network.units;
        let memories = if network.cell == Cell::Lstm {
            states
        } else {
            0
        };
        Self {
            network,
            lengths: lengths.to_vec(),
            time,
            parameters: numbers(network.len(), 1),
            input: numbers(time * lengths.len() * network.input, 2),
            state: numbers(states, 3),
            memory: numbers(memories, 4),
        }
    }

    fn steps(&self) -> Steps<'_> {
        Steps {
            time: self.time,
            batch: self.lengths.len(),
            lengths: Some(&self.lengths),
        }
    }

    /// Returns output, state, memory and what is saved.
    fn forward(&self) -> [Vec<f64>; 4] {
        let count = self.steps().count();
        let mut output = vec![f64::NAN; count * self.network.output()];
        let (mut state, mut memory) = (self.state.clone(), self.memory.clone());
        let mut saved = vec![0.0; self.network.saved(count).unwrap()];
        self.network.set_factors(&mut saved, count, |factors| {
            let factors = factors.iter_mut().enumerate();
            factors.for_each(|(at, it)| *it = if at % 3 == 0 { 0.0 } else { 2.0 });
        });
        let results = Results {
            output: &mut output,
            state: &mut state,
            memory: &mut memory,
            saved: &mut saved,
        };
        forward(
            &self.network,
            &self.steps(),
            &self.parameters,
            &self.input,
            results,
        );
        [output, state, memory, saved]
    }

    /// Returns a weighted sum of all results.
    fn total(&self) -> f64 {
        let [output, state, memory, _] = self.forward();
        let results = [output, state, memory].concat();
        let weights = numbers(results.len(), 9);
        results
            .iter()
            .zip(weights)
            .map(|(x, weight)| x * weight)
            .sum()
    }

    /// Returns the gradients of the total with respect to input, state, memory and parameters.
    fn gradients(&self) -> [Vec<f64>; 4] {
        let [output, state, memory, saved] = self.forward();
        let weights = numbers(output.len() + state.len() + memory.len(), 9);
        let (of_output, rest) = weights.split_at(output.len());
        let (of_state, of_memory) = rest.split_at(state.len());
        let [mut of_state, mut of_memory] = [of_state.to_vec(), of_memory.to_vec()];
        let mut of_input = vec![f64::NAN; self.input.len()];
        let mut of_parameters = vec![f64::NAN; self.parameters.len()];
        let computed = Computed {
            parameters: &self.parameters,
            input: &self.input,
            state: &self.state,
            memory: &self.memory,
            saved: &saved,
        };
        let gradients = Gradients {
            input: &mut of_input,
            state: &mut of_state,
            memory: &mut of_memory,
            parameters: &mut of_parameters,
        };
        backward(
            &self.network,
            &self.steps(),
            &computed,
            of_output,
            gradients,
        );
        [of_input, of_state, of_memory, of_parameters]
    }

    fn operand(&mut self, index: usize) -> &mut Vec<f64> {
        match index {
            0 => &mut self.input,
            1 => &mut self.state,
            2 => &mut self.memory,
            _ => &mut self.parameters,
        }
    }
}

fn examples() -> impl Iterator<Item = Example> {
    let kinds = [
        (1, false, false),
        (1, true, false),
        (3, false, false),
        (2, true, true),
    ];
    let networks = CELLS.into_iter().flat_map(move |cell| {
        kinds.map(|(layers, both, skips)| network(cell, layers, both, skips))
    });
    networks.map(|it| Example::new(it, &[4, 1, 0, 3], 4))
}

#[test]
fn gradients_are_the_slopes_of_the_results() {
    for mut example in examples() {
        let found = example.gradients();
        for (operand, found) in found.iter().enumerate() {
            for (at, found) in found.iter().enumerate() {
                let value = example.operand(operand)[at];
                let mut total = |x| {
                    example.operand(operand)[at] = x;
                    example.total()
                };
                let slope = (total(value + 1e-6) - total(value - 1e-6)) / 2e-6;
                example.operand(operand)[at] = value;
                let name = (example.network, operand, at);
                assert!((slope - found).abs() < 1e-7, "{name:?}: {slope} {found}");
            }
        }
    }
}

/// Computes an LSTM or GRU of one layer and direction by scalars.
fn one_layer(example: &Example, sequence: usize) -> Vec<f64> {
    let (network, batch) = (example.network, example.lengths.len());
    let (units, input) = (network.units, network.input);
    let parameters = network.parameters(0, 0);
    let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mut h = example.state[sequence * units..][..units].to_vec();
    let mut c = example
        .memory
        .get(sequence * units..(sequence + 1) * units)
        .map_or(vec![], <[f64]>::to_vec);
    for step in 0..example.lengths[sequence] {
        let x = &example.input[(step * batch + sequence) * input..][..input];
        let dot = |matrix: &std::ops::Range<usize>, row: usize, x: &[f64]| -> f64 {
            let row = &example.parameters[matrix.start + row * x.len()..][..x.len()];
            row.iter().zip(x).map(|(a, b)| a * b).sum()
        };
        let old = h.clone();
        let of_input = |row| {
            dot(&parameters.input, row, x) + example.parameters[parameters.biases[0].start + row]
        };
        let of_state = |row| {
            dot(&parameters.state, row, &old) + example.parameters[parameters.biases[1].start + row]
        };
        for unit in 0..units {
            let gate = |gate: usize| of_input(gate * units + unit) + of_state(gate * units + unit);
            if network.cell == Cell::Lstm {
                c[unit] = logistic(gate(1)) * c[unit] + logistic(gate(0)) * gate(2).tanh();
                h[unit] = logistic(gate(3)) * c[unit].tanh();
            } else {
                let gates = network.cell.gru_gates();
                let (reset, update, row) = (
                    logistic(gate(gates[0])),
                    logistic(gate(gates[1])),
                    2 * units + unit,
                );
                let new = (of_input(row) + reset * of_state(row)).tanh();
                h[unit] = (1.0 - update) * new + update * old[unit];
            }
        }
    }
    h
}

#[test]
fn last_state_is_that_of_the_formulas() {
    for cell in [Cell::Lstm, Cell::Gru, Cell::GruUpdateFirst] {
        let example = Example::new(network(cell, 1, false, false), &[4, 1, 0, 3], 4);
        let [_, state, ..] = example.forward();
        for (sequence, found) in state.chunks_exact(3).enumerate() {
            for (found, expected) in found.iter().zip(one_layer(&example, sequence)) {
                assert!((found - expected).abs() < 1e-12, "{cell:?} {sequence}");
            }
        }
    }
}

#[test]
fn reversed_direction_is_the_forward_one_of_reversed_sequences() {
    let both = Example::new(network(Cell::Gru, 1, true, false), &[4, 2], 4);
    let mut reversed = Example::new(network(Cell::Gru, 1, false, false), &[4, 2], 4);
    let [forward, backward] = [
        both.network.parameters(0, 1),
        reversed.network.parameters(0, 0),
    ];
    let copies = [
        (forward.input, backward.input),
        (forward.state, backward.state),
    ];
    let biases = forward.biases.into_iter().zip(backward.biases);
    for (from, to) in copies.into_iter().chain(biases) {
        reversed.parameters[to].copy_from_slice(&both.parameters[from]);
    }
    reversed.state.copy_from_slice(&both.state[6..]);
    for (sequence, length) in [4, 2].into_iter().enumerate() {
        for step in 0..length {
            let [from, to] = [length - 1 - step, step].map(|it| (it * 2 + sequence) * 2);
            reversed.input[to..to + 2].copy_from_slice(&both.input[from..from + 2]);
        }
    }
    let ([output, state, ..], [other, last, ..]) = (both.forward(), reversed.forward());
    assert_eq!(state[6..], last[..]);
    for (sequence, length) in [4, 2].into_iter().enumerate() {
        for step in 0..4 {
            let found = &output[(step * 2 + sequence) * 6 + 3..][..3];
            match step < length {
                true => assert_eq!(
                    found,
                    &other[((length - 1 - step) * 2 + sequence) * 3..][..3]
                ),
                false => assert_eq!(found, [0.0; 3]),
            }
        }
    }
}

#[test]
fn networks_that_do_not_exist_are_none() {
    let sizes = |layers, input, units, skips_input| Sizes {
        layers,
        input,
        units,
        is_bidirectional: true,
        skips_input,
    };
    assert!(Network::new(Cell::Lstm, sizes(0, 1, 1, false)).is_none());
    assert!(Network::new(Cell::Lstm, sizes(1, 2, 1, true)).is_none());
    assert!(Network::new(Cell::Lstm, sizes(1, usize::MAX, usize::MAX, false)).is_none());
    assert!(Network::new(Cell::Lstm, sizes(usize::MAX, 1, 1, false)).is_none());
    let network = Network::new(Cell::Lstm, sizes(1 << 20, 1, 1, false)).unwrap();
    assert_eq!(network.saved(usize::MAX), None);
    let empty = Network::new(Cell::Gru, sizes(2, 0, 0, false)).unwrap();
    assert!(empty.is_empty());
}
