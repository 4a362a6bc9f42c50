//! Recurrent networks of several layers, in one direction or two, as the ops `CudnnRNN` define them.
//!
//! Sequences are `time` x `batch` x `width`, states `batch` x `units` for each layer and direction. All parameters are one vector:
//! for each layer and direction a matrix of the inputs and one of the state, with a row for each unit of each gate; then, for each
//! of them, the biases of the inputs and those of the state.

mod backward;
mod cell;
mod forward;
mod pass;
mod saved;
#[cfg(test)]
mod tests;

pub use backward::{Computed, Gradients, backward};
pub use cell::Cell;
pub use forward::{Results, forward};

use crate::compute::machine::workspace::Buffer;
use crate::compute::ops::matmul::Product;
use crate::compute::scalar::arith::Number;
use std::ops::Range;

/// The layers of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    cell: Cell,
    layers: usize,
    directions: usize,
    input: usize,
    units: usize,
    /// True if the first layer adds its input to each gate, without a matrix.
    skips_input: bool,
}

/// The sizes of a network, and how it reads its input.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The number of layers.
    pub layers: usize,
    /// The number of elements of a step's input.
    pub input: usize,
    /// The number of units of a layer and direction.
    pub units: usize,
    /// True for two directions.
    pub is_bidirectional: bool,
    /// True if the first layer adds its input to each gate, without a matrix.
    pub skips_input: bool,
}

/// The positions of the parameters of a layer and direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The matrix of the inputs: `gates * units` x `width`. It is empty if the layer has none.
    pub input: Range<usize>,
    /// The matrix of the state: `gates * units` x `units`.
    pub state: Range<usize>,
    /// The biases of the inputs, and those of the state: `gates * units` each.
    pub biases: [Range<usize>; 2],
}

/// The lengths of the sequences of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'a> {
    /// The number of steps of the longest sequence.
    pub time: usize,
    /// The number of sequences.
    pub batch: usize,
    /// The number of steps of each sequence; all have `time` steps if it is `None`. Later steps have outputs of 0.
    pub lengths: Option<&'a [usize]>,
}

impl Steps<'_> {
    fn is_valid(&self, step: usize, sequence: usize) -> bool {
        self.lengths.is_none_or(|it| step < it[sequence])
    }

    fn count(&self) -> usize {
        self.time * self.batch
    }

    fn check(&self) {
        let is_possible = |lengths: &[usize]| {
            lengths.len() == self.batch && lengths.iter().all(|it| *it <= self.time)
        };
        assert!(self.lengths.is_none_or(is_possible), "impossible lengths");
    }

    /// Returns the step whose state the cell reads, or `None` if it is the initial one.
    fn previous(&self, step: usize, sequence: usize, is_reversed: bool) -> Option<usize> {
        match is_reversed {
            false => step.checked_sub(1),
            true => Some(step + 1).filter(|it| *it < self.time && self.is_valid(*it, sequence)),
        }
    }

    /// Returns the steps in the order of a direction.
    fn in_order(&self, is_reversed: bool) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let last = self.time.wrapping_sub(1);
        (0..self.time).map(move |it| if is_reversed { last - it } else { it })
    }
}

impl Network {
    /// Creates a network. Returns `None` if it has no layer, more than about 2^40 layers or parameters, or if it adds inputs to gates of
    /// another size.
    pub fn new(cell: Cell, sizes: Sizes) -> Option<Self> {
        let network = Self {
            cell,
            layers: sizes.layers,
            directions: if sizes.is_bidirectional { 2 } else { 1 },
            input: sizes.input,
            units: sizes.units,
            skips_input: sizes.skips_input,
        };
        let is_possible = !sizes.skips_input || sizes.input == sizes.units;
        // A layer without units counts as one with a unit.
        let rows = 8_usize
            .checked_mul(sizes.layers)?
            .checked_mul(sizes.units.max(1))?;
        let columns = sizes
            .units
            .checked_mul(3)?
            .checked_add(2)?
            .checked_add(sizes.input)?;
        let is_small = rows.checked_mul(columns)? <= 1 << 40;
        (is_possible && is_small && sizes.layers > 0).then_some(network)
    }

    /// Returns true if so many steps have no output. There may be many: a tensor without elements can have any dims.
    fn has_no_output(&self, steps: usize) -> bool {
        steps == 0 || self.units == 0
    }

    /// Returns the number of layers, each counted once for each direction.
    pub fn cells(&self) -> usize {
        self.layers * self.directions
    }

    /// Returns the number of units of a layer and direction.
    pub fn units(&self) -> usize {
        self.units
    }

    /// Returns the number of gates of a step.
    pub fn gates(&self) -> usize {
        self.cell.gates()
    }

    /// Returns the number of rows of each matrix of a layer and direction.
    pub fn rows(&self) -> usize {
        self.cell.gates() * self.units
    }

    /// Returns the number of elements of an output.
    pub fn output(&self) -> usize {
        self.directions * self.units
    }

    /// Returns the number of elements of the memory of a sequence.
    fn memory(&self) -> usize {
        if self.cell == Cell::Lstm {
            self.units
        } else {
            0
        }
    }

    /// Returns the number of elements of a layer's input.
    pub fn width(&self, layer: usize) -> usize {
        if layer == 0 {
            self.input
        } else {
            self.output()
        }
    }

    /// Returns the number of parameters.
    pub fn len(&self) -> usize {
        self.matrices_before(self.layers) + 2 * self.cells() * self.rows()
    }

    /// Returns true if no layer has units.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the positions of the parameters of a layer and direction.
    pub fn parameters(&self, layer: usize, direction: usize) -> Parameters {
        let start = self.matrices_before(layer) + direction * self.matrices(layer);
        let input = start..start + self.rows() * self.columns(layer);
        let state = input.end..input.end + self.rows() * self.units;
        let (rows, cell) = (self.rows(), layer * self.directions + direction);
        let first = self.len() - 2 * (self.cells() - cell) * rows;
        let biases = [first..first + rows, first + rows..first + 2 * rows];
        Parameters {
            input,
            state,
            biases,
        }
    }

    /// Returns the positions of the parameters of each layer and direction.
    pub fn all_parameters(&self) -> impl Iterator<Item = Parameters> {
        let cells =
            (0..self.layers).flat_map(|layer| (0..self.directions).map(move |it| (layer, it)));
        cells.map(|(layer, direction)| self.parameters(layer, direction))
    }

    /// Returns the number of elements of the matrices of so many layers.
    fn matrices_before(&self, layers: usize) -> usize {
        let Some(others) = layers.checked_sub(1) else {
            return 0;
        };
        self.directions * (self.matrices(0) + others * self.matrices(1))
    }

    /// Returns the number of elements of the two matrices of a layer and direction.
    fn matrices(&self, layer: usize) -> usize {
        self.rows() * (self.columns(layer) + self.units)
    }

    /// Returns the number of columns of a layer's matrix of the inputs.
    fn columns(&self, layer: usize) -> usize {
        match layer == 0 && self.skips_input {
            true => 0,
            false => self.width(layer),
        }
    }
}

fn zeros<T: Number>(len: usize) -> Buffer<T> {
    let mut buffer = Buffer::new(len);
    buffer.fill(T::ZERO);
    buffer
}

/// Multiplies the inputs of a layer by its factors.
fn scale<T: Number>(inputs: &mut [T], factors: &[T]) {
    for (input, factor) in inputs.iter_mut().zip(factors) {
        *input = input.times(*factor);
    }
}

fn add<T: Number>(sums: &mut [T], terms: &[T]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum = sum.plus(*term);
    }
}

/// Returns a product of matrices that are not transposed.
fn product(m: usize, k: usize, n: usize) -> Product {
    Product {
        m,
        k,
        n,
        transpose_a: false,
        transpose_b: false,
    }
}

/// Returns a row of a matrix of so many columns.
fn row<T>(x: &[T], at: usize, columns: usize) -> &[T] {
    &x[at * columns..][..columns]
}

fn row_mut<T>(x: &mut [T], at: usize, columns: usize) -> &mut [T] {
    &mut x[at * columns..][..columns]
}
