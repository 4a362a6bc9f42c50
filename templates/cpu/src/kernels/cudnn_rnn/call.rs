//! The attributes and the shapes of a call.

use super::super::prelude::*;
use super::super::stateful_random::{Generator, Seeds};
use crate::compute::elementary::Real;
use crate::compute::nn::recurrent::{Cell, Network, Sizes, Steps};
use crate::compute::random;
use crate::compute::workspace::Buffer;

/// The function of a step.
#[derive(Clone, Copy, AttributeValue)]
pub enum Mode {
    #[value("rnn_relu")]
    Relu,
    #[value("rnn_tanh")]
    Tanh,
    #[value("lstm")]
    Lstm,
    #[value("gru")]
    Gru,
}

/// The treatment of the input by the first layer.
#[derive(Clone, Copy, PartialEq, Eq, AttributeValue)]
pub enum InputMode {
    #[value("linear_input")]
    Linear,
    #[value("skip_input")]
    Skip,
    /// Without a matrix if the input has as many elements as the layer has units.
    #[value("auto_select")]
    Automatic,
}

#[derive(Clone, Copy, PartialEq, Eq, AttributeValue)]
pub enum Direction {
    #[value("unidirectional")]
    Forward,
    #[value("bidirectional")]
    Both,
}

/// The attributes that all ops have.
#[derive(Attributes)]
pub struct RnnAttributes {
    rnn_mode: Mode,
    input_mode: InputMode,
    direction: Direction,
    dropout: f32,
    seed: i64,
    seed2: i64,
}

/// The checked attributes.
pub struct Rnn {
    /// The function of a step.
    pub cell: Cell,
    input_mode: InputMode,
    direction: Direction,
    dropout: f32,
    generator: Generator,
}

impl Prepare for Rnn {
    type Attributes = RnnAttributes;

    fn prepare(it: RnnAttributes) -> Result<Self> {
        if !(0.0..=1.0).contains(&it.dropout) {
            return invalid!("dropout must be between 0 and 1, but is {}", it.dropout);
        }
        let (seed, seed2) = (it.seed, it.seed2);
        Ok(Self {
            cell: match it.rnn_mode {
                Mode::Relu => Cell::Relu,
                Mode::Tanh => Cell::Tanh,
                Mode::Lstm => Cell::Lstm,
                // Keras has the order of cuDNN in builds with CUDA only.
                Mode::Gru if sp_plugin::is_cuda_build() == Some(true) => Cell::Gru,
                Mode::Gru => Cell::GruUpdateFirst,
            },
            input_mode: it.input_mode,
            direction: it.direction,
            dropout: it.dropout,
            generator: Generator::prepare(Seeds { seed, seed2 })?,
        })
    }
}

impl Rnn {
    /// Returns the number of directions.
    pub fn directions(&self) -> usize {
        if self.direction == Direction::Both {
            2
        } else {
            1
        }
    }

    /// Returns the network of these sizes.
    ///
    /// # Errors
    /// Returns an error if there is none, or it has too many parameters.
    pub fn network(&self, layers: usize, units: usize, input: usize) -> Result<Network> {
        let sizes = Sizes {
            layers,
            input,
            units,
            is_bidirectional: self.direction == Direction::Both,
            skips_input: match self.input_mode {
                InputMode::Linear => false,
                InputMode::Skip => true,
                InputMode::Automatic => input == units,
            },
        };
        Network::new(self.cell, sizes).ok_or_else(|| {
            Error::invalid_argument(format!(
                "there is no network of {layers} layers of {units} units for inputs of {input} elements with this input_mode"
            ))
        })
    }

    /// Writes the factors of the inputs of a layer.
    pub fn draw_factors<T: Real>(&self, factors: &mut [T], is_training: bool) {
        if !is_training || self.dropout == 0.0 {
            return factors.fill(T::ONE);
        }
        let mut numbers = Buffer::<f32>::new(factors.len());
        random::uniform(self.generator.reserve(numbers.len()), &mut numbers);
        let scale = T::constant(1.0 / f64::from(1.0 - self.dropout));
        for (factor, number) in factors.iter_mut().zip(&*numbers) {
            *factor = if *number < self.dropout {
                T::ZERO
            } else {
                scale
            };
        }
    }
}

/// The shapes of a call.
pub struct Call {
    /// The layers.
    pub network: Network,
    time: usize,
    batch: usize,
    lengths: Option<Vec<usize>>,
    is_time_major: bool,
    /// The dims of a state, of the cells and the batch in the order of the tensors.
    pub state_dims: [usize; 3],
}

/// The inputs of a network.
pub struct Operands<'a, 'l, T> {
    /// The sequences.
    pub input: In<'a, T>,
    /// The initial states.
    pub input_h: In<'a, T>,
    /// The initial memories of an LSTM.
    pub input_c: In<'a, T>,
    /// All parameters.
    pub params: In<'a, T>,
    /// The number of steps of each sequence.
    pub lengths: Option<HostIn<'l, i32>>,
    /// True if the first dim of the sequences is that of the steps.
    pub is_time_major: bool,
}

impl<'a, 'l, T> Operands<'a, 'l, T> {
    /// Returns the operands input, state, memory and parameters, of sequences of one length.
    pub fn new([input, input_h, input_c, params]: [In<'a, T>; 4]) -> Self {
        Self {
            input,
            input_h,
            input_c,
            params,
            lengths: None,
            is_time_major: true,
        }
    }

    /// Returns the operands with the lengths of the sequences and the order of their dims.
    pub fn with_lengths(self, lengths: HostIn<'l, i32>, is_time_major: bool) -> Self {
        Self {
            lengths: Some(lengths),
            is_time_major,
            ..self
        }
    }
}

impl Call {
    /// Checks the inputs.
    ///
    /// # Errors
    /// Returns an error if their shapes do not fit together.
    pub fn new<T: Element>(rnn: &Rnn, operands: &Operands<'_, '_, T>) -> Result<Self> {
        let [outer, inner, width] = dims3("input", operands.input.dims())?;
        let state_dims = dims3("input_h", operands.input_h.dims())?;
        let is_time_major = operands.is_time_major;
        let [time, batch] = if is_time_major {
            [outer, inner]
        } else {
            [inner, outer]
        };
        let [first, second, units] = state_dims;
        let [cells, states] = if is_time_major {
            [first, second]
        } else {
            [second, first]
        };
        if states != batch || cells % rnn.directions() != 0 {
            return invalid!(
                "input_h of shape {state_dims:?} does not match the batch of {batch} sequences and {} directions",
                rnn.directions()
            );
        }
        let network = rnn.network(cells / rnn.directions(), units, width)?;
        check_params(&network, operands.params.dims())?;
        let call = Self {
            network,
            time,
            batch,
            lengths: read_lengths(operands.lengths.as_ref(), time, batch)?,
            is_time_major,
            state_dims,
        };
        if rnn.cell == Cell::Lstm {
            Self::check("input_c", operands.input_c.dims(), &state_dims)?;
        }
        Ok(call)
    }

    /// Checks the shape of an input.
    ///
    /// # Errors
    /// Returns an error if it has another one.
    pub fn check(name: &str, dims: &[usize], expected: &[usize]) -> Result<()> {
        match dims == expected {
            true => Ok(()),
            false => invalid!(
                "{name} must have shape {}, not {}",
                Dims(expected),
                Dims(dims)
            ),
        }
    }

    /// Returns the lengths of the sequences.
    pub fn steps(&self) -> Steps<'_> {
        Steps {
            time: self.time,
            batch: self.batch,
            lengths: self.lengths.as_deref(),
        }
    }

    /// Returns the number of steps of all sequences.
    pub fn count(&self) -> usize {
        self.time.saturating_mul(self.batch)
    }

    /// Returns the number of elements that are saved for the gradients.
    ///
    /// # Errors
    /// Returns an error if no tensor has so many.
    pub fn saved(&self) -> Result<usize> {
        let saved = self.network.saved(self.count());
        saved.ok_or_else(|| Error::invalid_argument("the network saves more than 2^62 numbers"))
    }

    /// Returns the dims of the outputs.
    pub fn output_dims(&self) -> [usize; 3] {
        self.dims([self.time, self.batch, self.network.output()])
    }

    /// Returns the dims of the sequences.
    pub fn input_dims(&self) -> [usize; 3] {
        self.dims([self.time, self.batch, self.network.width(0)])
    }

    /// Returns the dims of a tensor from those of the computation.
    fn dims(&self, [first, second, width]: [usize; 3]) -> [usize; 3] {
        match self.is_time_major {
            true => [first, second, width],
            false => [second, first, width],
        }
    }

    /// Returns a tensor of three dims in the order of the computation: steps or cells, then sequences.
    pub fn read<T: Precision>(&self, x: &[T], dims: &[usize]) -> Buffer<T::Compute> {
        let x = T::widened(x);
        let mut out = Buffer::new(x.len());
        match *dims {
            [outer, inner, width] if !self.is_time_major => {
                exchange(&x, [outer, inner, width], &mut out)
            }
            _ => out.copy_from_slice(&x),
        }
        out
    }

    /// Writes a tensor of three dims from the order of the computation.
    ///
    /// # Errors
    /// Returns an error if the output cannot be allocated.
    pub fn write<T: Element + Precision>(
        &self,
        x: &[T::Compute],
        dims: [usize; 3],
        out: Out<'_, T>,
    ) -> Result<()> {
        let mut out = out.unspecified(&dims)?;
        T::overwrite(&mut out, |out| match self.is_time_major {
            true => out.copy_from_slice(x),
            false => exchange(x, self.dims(dims), out),
        });
        Ok(())
    }
}

/// Copies rows with the first two dims exchanged.
fn exchange<T: Copy>(x: &[T], [outer, inner, width]: [usize; 3], out: &mut [T]) {
    if width == 0 {
        return;
    }
    let places = (0..inner).flat_map(|at| (0..outer).map(move |row| row * inner + at));
    for (out, row) in out.chunks_exact_mut(width).zip(places) {
        out.copy_from_slice(&x[row * width..][..width]);
    }
}

fn dims3(name: &str, dims: &[usize]) -> Result<[usize; 3]> {
    dims.try_into().map_err(|_| {
        Error::invalid_argument(format!(
            "{name} must be rank 3, not of shape {}",
            Dims(dims)
        ))
    })
}

/// Checks the shape of the parameters.
///
/// # Errors
/// Returns an error if they are not a vector of the network's parameters.
pub fn check_params(network: &Network, dims: &[usize]) -> Result<()> {
    match dims == [network.len()] {
        true => Ok(()),
        false => invalid!(
            "params must be a vector of {} elements, not of shape {}",
            network.len(),
            Dims(dims)
        ),
    }
}

fn read_lengths(
    lengths: Option<&HostIn<'_, i32>>,
    time: usize,
    batch: usize,
) -> Result<Option<Vec<usize>>> {
    let Some(lengths) = lengths else {
        return Ok(None);
    };
    let read = |length: &i32| usize::try_from(*length).ok().filter(|it| *it <= time);
    let found = lengths.data().iter().map(|it| read(it).ok_or(()));
    let found = allocation::try_collect(found).ok();
    let found = found.filter(|it| lengths.dims() == [batch] && it.len() == batch);
    found.map(Some).ok_or_else(|| {
        Error::invalid_argument(format!(
            "sequence_lengths must be a vector of {batch} numbers between 0 and {time}"
        ))
    })
}
