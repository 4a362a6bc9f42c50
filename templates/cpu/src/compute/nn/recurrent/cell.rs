//! One step of one sequence.

use crate::compute::elementary::Real;

/// The function of a layer's step. Its gates are in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// `max(0, Wx + Rh + b)`
    Relu,
    /// `tanh(Wx + Rh + b)`
    Tanh,
    /// Input, forget, new memory, output.
    Lstm,
    /// Reset, update, new output, whose product with the state is reset after its bias is added.
    Gru,
    /// As `Gru`, with the update before the reset.
    GruUpdateFirst,
}

/// The operands of a step: sums of the inputs and of the state for each gate, and the biases of both.
pub struct Sums<'a, T> {
    pub input: &'a [T],
    pub state: &'a [T],
    pub biases: [&'a [T]; 2],
}

/// What a step leaves for the gradients.
pub struct SavedStep<'a, T> {
    pub gates: &'a [T],
    pub memory: &'a [T],
    pub output: &'a [T],
    /// The memory and the output of the step before.
    pub previous: [&'a [T]; 2],
}

/// The gradients of a step: of its output and its memory, and those that it writes, of the gates' sums of the inputs and of the
/// state.
pub struct StepGradients<'a, T> {
    pub output: &'a mut [T],
    pub memory: &'a mut [T],
    pub input_sums: &'a mut [T],
    pub state_sums: &'a mut [T],
}

impl Cell {
    /// Returns the number of gates.
    pub const fn gates(self) -> usize {
        match self {
            Self::Relu | Self::Tanh => 1,
            Self::Gru | Self::GruUpdateFirst => 3,
            Self::Lstm => 4,
        }
    }

    /// Returns the number of vectors that a step saves besides memory and output. That of `Gru` after the gates is the sum that the
    /// reset gate multiplies.
    pub const fn saved_gates(self) -> usize {
        match self {
            Self::Relu | Self::Tanh => 0,
            Self::Gru | Self::GruUpdateFirst | Self::Lstm => 4,
        }
    }

    /// Returns the positions of the reset and the update among the gates of a GRU.
    pub(super) fn gru_gates(self) -> [usize; 2] {
        if self == Self::GruUpdateFirst {
            [1, 0]
        } else {
            [0, 1]
        }
    }

    /// Computes a step: replaces the output and the memory of the step before, and writes the gates.
    pub fn step<T: Real>(
        self,
        sums: &Sums<'_, T>,
        output: &mut [T],
        memory: &mut [T],
        gates: &mut [T],
    ) {
        let units = output.len();
        let input = |at: usize| sums.input[at] + sums.biases[0][at];
        let state = |at: usize| sums.state[at] + sums.biases[1][at];
        let sum = |gate: usize, unit: usize| {
            let at = gate * units + unit;
            input(at) + state(at)
        };
        for unit in 0..units {
            match self {
                Self::Relu => {
                    let sum = sum(0, unit);
                    // NaN is not below 0.
                    output[unit] = if sum < T::ZERO { T::ZERO } else { sum };
                }
                Self::Tanh => output[unit] = sum(0, unit).hyperbolic_tangent(),
                Self::Lstm => {
                    let [read, forget, write] = [0, 1, 3].map(|gate| sum(gate, unit).logistic());
                    let new = sum(2, unit).hyperbolic_tangent();
                    memory[unit] = forget * memory[unit] + read * new;
                    output[unit] = write * memory[unit].hyperbolic_tangent();
                    store(gates, unit, [read, forget, new, write]);
                }
                Self::Gru | Self::GruUpdateFirst => {
                    let [reset, update] = self.gru_gates().map(|gate| sum(gate, unit).logistic());
                    let at = 2 * units + unit;
                    let new = (input(at) + reset * state(at)).hyperbolic_tangent();
                    output[unit] = new + update * (output[unit] - new);
                    store(gates, unit, [reset, update, new, state(at)]);
                }
            }
        }
    }

    /// Computes the gradients of a step. The output's gradient is replaced by that part of the previous output's gradient which does
    /// not come from the sums, the memory's by that of the previous memory.
    pub fn gradients<T: Real>(self, saved: &SavedStep<'_, T>, g: StepGradients<'_, T>) {
        let units = g.output.len();
        let of_logistic = |y: T, gradient: T| gradient * y * (T::ONE - y);
        let of_tanh = |y: T, gradient: T| gradient * (T::ONE - y * y);
        for unit in 0..units {
            let gradient = g.output[unit];
            let [old_memory, old_output] = saved.previous.map(|it| it.get(unit).copied());
            match self {
                Self::Relu | Self::Tanh => {
                    let y = saved.output[unit];
                    let sum = match self {
                        Self::Relu if y > T::ZERO => gradient,
                        Self::Relu => T::ZERO,
                        _ => of_tanh(y, gradient),
                    };
                    g.output[unit] = T::ZERO;
                    store(g.input_sums, unit, [sum]);
                    store(g.state_sums, unit, [sum]);
                }
                Self::Lstm => {
                    let [read, forget, new, write] = load(saved.gates, unit);
                    let memory = saved.memory[unit].hyperbolic_tangent();
                    let of_memory = of_tanh(memory, gradient * write) + g.memory[unit];
                    let old = old_memory.unwrap_or_default();
                    let sums = [
                        of_logistic(read, of_memory * new),
                        of_logistic(forget, of_memory * old),
                        of_tanh(new, of_memory * read),
                        of_logistic(write, gradient * memory),
                    ];
                    g.output[unit] = T::ZERO;
                    g.memory[unit] = of_memory * forget;
                    store(g.input_sums, unit, sums);
                    store(g.state_sums, unit, sums);
                }
                Self::Gru | Self::GruUpdateFirst => {
                    let [reset, update, new, state] = load(saved.gates, unit);
                    let old = old_output.unwrap_or_default();
                    let of_new = of_tanh(new, gradient * (T::ONE - update));
                    let of_update = of_logistic(update, gradient * (old - new));
                    let of_reset = of_logistic(reset, of_new * state);
                    g.output[unit] = gradient * update;
                    let [first, second] = self.gru_gates().map(|it| [of_reset, of_update][it]);
                    store(g.input_sums, unit, [first, second, of_new]);
                    store(g.state_sums, unit, [first, second, of_new * reset]);
                }
            }
        }
    }
}

/// Writes the elements of a unit, one of each vector.
fn store<T: Copy, const N: usize>(vectors: &mut [T], unit: usize, values: [T; N]) {
    let units = vectors.len() / N;
    for (vector, value) in values.into_iter().enumerate() {
        vectors[vector * units + unit] = value;
    }
}

/// Returns the elements of a unit, one of each vector.
fn load<T: Copy, const N: usize>(vectors: &[T], unit: usize) -> [T; N] {
    let units = vectors.len() / N;
    std::array::from_fn(|vector| vectors[vector * units + unit])
}
