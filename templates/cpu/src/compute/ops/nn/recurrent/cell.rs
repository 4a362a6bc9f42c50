//! One step of one sequence.

use crate::compute::scalar::elementary::Real;

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

impl<T: Real> Sums<'_, T> {
    fn of_input(&self, at: usize) -> T {
        self.input[at] + self.biases[0][at]
    }

    fn of_state(&self, at: usize) -> T {
        self.state[at] + self.biases[1][at]
    }

    fn total(&self, at: usize) -> T {
        self.of_input(at) + self.of_state(at)
    }
}

/// The values of a step that its gradients are computed from.
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
        for unit in 0..units {
            let at = |gate: usize| gate * units + unit;
            match self {
                // NaN is not below 0.
                Self::Relu if sums.total(unit) < T::ZERO => output[unit] = T::ZERO,
                Self::Relu => output[unit] = sums.total(unit),
                Self::Tanh => output[unit] = sums.total(unit).hyperbolic_tangent(),
                Self::Lstm => {
                    let [read, forget, write] = [0, 1, 3].map(|it| sums.total(at(it)).logistic());
                    let new = sums.total(at(2)).hyperbolic_tangent();
                    memory[unit] = forget * memory[unit] + read * new;
                    output[unit] = write * memory[unit].hyperbolic_tangent();
                    store(gates, unit, [read, forget, new, write]);
                }
                Self::Gru | Self::GruUpdateFirst => {
                    let [reset, update] = self.gru_gates().map(|it| sums.total(at(it)).logistic());
                    let state = sums.of_state(at(2));
                    let new = (sums.of_input(at(2)) + reset * state).hyperbolic_tangent();
                    output[unit] = new + update * (output[unit] - new);
                    store(gates, unit, [reset, update, new, state]);
                }
            }
        }
    }

    /// Computes the gradients of a step. The output's gradient is replaced by that part of the previous output's gradient which does
    /// not come from the sums, the memory's by that of the previous memory.
    pub fn gradients<T: Real>(self, saved: &SavedStep<'_, T>, mut g: StepGradients<'_, T>) {
        for unit in 0..g.output.len() {
            match self {
                Self::Relu | Self::Tanh => self.simple_gradients(saved, &mut g, unit),
                Self::Lstm => lstm_gradients(saved, &mut g, unit),
                Self::Gru | Self::GruUpdateFirst => self.gru_gradients(saved, &mut g, unit),
            }
        }
    }

    fn simple_gradients<T: Real>(
        self,
        saved: &SavedStep<'_, T>,
        g: &mut StepGradients<'_, T>,
        unit: usize,
    ) {
        let y = saved.output[unit];
        let sum = match self {
            Self::Relu if y > T::ZERO => g.output[unit],
            Self::Relu => T::ZERO,
            _ => of_tanh(y, g.output[unit]),
        };
        g.output[unit] = T::ZERO;
        store(g.input_sums, unit, [sum]);
        store(g.state_sums, unit, [sum]);
    }

    fn gru_gradients<T: Real>(
        self,
        saved: &SavedStep<'_, T>,
        g: &mut StepGradients<'_, T>,
        unit: usize,
    ) {
        let [reset, update, new, state] = load(saved.gates, unit);
        let ([_, old], gradient) = (saved.previous, g.output[unit]);
        let of_new = of_tanh(new, gradient * (T::ONE - update));
        let of_update = of_logistic(update, gradient * (old[unit] - new));
        let of_reset = of_logistic(reset, of_new * state);
        g.output[unit] = gradient * update;
        let [first, second] = self.gru_gates().map(|it| [of_reset, of_update][it]);
        store(g.input_sums, unit, [first, second, of_new]);
        store(g.state_sums, unit, [first, second, of_new * reset]);
    }
}

fn lstm_gradients<T: Real>(saved: &SavedStep<'_, T>, g: &mut StepGradients<'_, T>, unit: usize) {
    let [read, forget, new, write] = load(saved.gates, unit);
    let ([old, _], gradient) = (saved.previous, g.output[unit]);
    let memory = saved.memory[unit].hyperbolic_tangent();
    let of_memory = of_tanh(memory, gradient * write) + g.memory[unit];
    let sums = [
        of_logistic(read, of_memory * new),
        of_logistic(forget, of_memory * old[unit]),
        of_tanh(new, of_memory * read),
        of_logistic(write, gradient * memory),
    ];
    g.output[unit] = T::ZERO;
    g.memory[unit] = of_memory * forget;
    store(g.input_sums, unit, sums);
    store(g.state_sums, unit, sums);
}

/// Returns the gradient of the operand of a logistic function with the result `y`.
fn of_logistic<T: Real>(y: T, gradient: T) -> T {
    gradient * y * (T::ONE - y)
}

/// Returns the gradient of the operand of a hyperbolic tangent with the result `y`.
fn of_tanh<T: Real>(y: T, gradient: T) -> T {
    gradient * (T::ONE - y * y)
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
