//! One direction of a layer.

use super::{Cell, Network, Parameters, Steps, row};

/// A direction of a layer, which computes its steps one after the other.
pub struct Pass<'a> {
    pub cell: Cell,
    pub steps: &'a Steps<'a>,
    pub units: usize,
    /// The number of elements of the memory of a sequence.
    pub memory: usize,
    pub parameters: Parameters,
    pub is_reversed: bool,
}

impl<'a> Pass<'a> {
    pub fn new(network: &Network, steps: &'a Steps<'a>, layer: usize, direction: usize) -> Self {
        Self {
            cell: network.cell,
            steps,
            units: network.units,
            memory: network.memory(),
            parameters: network.parameters(layer, direction),
            is_reversed: direction == 1,
        }
    }

    /// Returns the number of rows of each matrix.
    pub fn rows(&self) -> usize {
        self.cell.gates() * self.units
    }

    /// Returns a row of memories and one of outputs.
    pub fn rows_of<'t, T>(&self, [memories, outputs]: [&'t [T]; 2], at: usize) -> [&'t [T]; 2] {
        [row(memories, at, self.memory), row(outputs, at, self.units)]
    }
}
