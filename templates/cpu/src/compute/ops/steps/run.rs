//! Computation of steps in blocks.

use super::merge::{Loop, MergedLoop};
use super::plan::{Steps, Target};
use super::{BLOCK, Body};
use crate::compute::loops::operand::BroadcastOperand;
use crate::compute::machine::parallel::for_each_chunk_of;
use crate::compute::machine::shape::Broadcast;
use crate::compute::machine::simd::Isa;
use sp_plugin::allocation;
use std::mem;
use std::ops::Range;

impl Steps {
    /// Computes the steps of `inputs`, each with its shape, broadcast to the shape of all results, and writes all of `outs`.
    ///
    /// # Panics
    /// Panics if the number of inputs or results differs from that of the plan, or if an input does not broadcast to
    /// `dims`, or if `dims` is not the shape of each result.
    pub fn run(&self, inputs: &[(&[usize], &[f32])], dims: &[usize], outs: &mut [&mut [f32]]) {
        assert_eq!(inputs.len(), self.inputs, "the number of inputs");
        assert_eq!(outs.len(), self.results(), "the number of results");
        let len = outs[0].len();
        let inputs: Vec<Operand<'_>> = inputs
            .iter()
            .map(|(shape, data)| Operand::new(shape, data, dims, len))
            .collect();
        let isa = Isa::current();
        for_each_chunk_of(outs, self.grain(), &|first, outs| {
            let len = outs[0].len();
            let mut scratch = Scratch::new(self, &inputs, len.min(BLOCK));
            for start in (0..len).step_by(BLOCK) {
                let block = start..len.min(start + BLOCK);
                scratch.load(&(first + block.start..first + block.end));
                scratch.compute(self, isa, &inputs, (first, block), outs);
            }
        });
    }
}

/// An input.
enum Operand<'a> {
    /// It has the result's shape.
    Whole(&'a [f32]),
    /// It has one element.
    Scalar(f32),
    /// It is the first operand of a plan, whose second one has the result's shape.
    Broadcast(Box<Broadcast<2>>, &'a [f32]),
}

impl<'a> Operand<'a> {
    fn new(shape: &[usize], data: &'a [f32], dims: &[usize], len: usize) -> Self {
        match *data {
            [value] => Self::Scalar(value),
            _ if shape == dims => Self::Whole(data),
            _ => {
                let plan = Broadcast::new([shape, dims]).expect("the input broadcasts");
                assert_eq!([data.len(), len], plan.lens(), "the input broadcasts");
                assert_eq!(len, plan.len(), "the input broadcasts");
                Self::Broadcast(Box::new(plan), data)
            }
        }
    }
}

/// The blocks of a thread.
struct Scratch<'a> {
    /// The inputs that are broadcast.
    operands: Vec<Option<BroadcastOperand<'a, f32, 2>>>,
    /// For each input that has not the result's shape, its elements.
    loaded: Vec<Vec<f32>>,
    /// The values of the loops that write no results.
    blocks: Vec<Vec<f32>>,
}

impl<'a> Scratch<'a> {
    fn new(plan: &Steps, inputs: &'a [Operand<'_>], len: usize) -> Self {
        let operand = |input: &'a Operand<'_>| match input {
            Operand::Broadcast(plan, data) => Some(BroadcastOperand::new(plan, 0, data)),
            _ => None,
        };
        let load = |input: &Operand<'_>| match input {
            Operand::Whole(_) => Vec::new(),
            Operand::Scalar(value) => allocation::filled(*value, len),
            Operand::Broadcast(..) => allocation::filled(0.0, len),
        };
        Self {
            operands: inputs.iter().map(operand).collect(),
            loaded: inputs.iter().map(load).collect(),
            blocks: (0..plan.blocks)
                .map(|_| allocation::filled(0.0, len))
                .collect(),
        }
    }

    /// Loads the elements of broadcast inputs.
    fn load(&mut self, elements: &Range<usize>) {
        for (operand, block) in self.operands.iter_mut().zip(&mut self.loaded) {
            if let Some(operand) = operand {
                operand.for_each_part(elements.clone(), |indices, part| {
                    block[indices].copy_from_slice(part);
                });
            }
        }
    }

    /// Computes a block of a chunk, whose first element has the index `first` in the results.
    fn compute(
        &mut self,
        plan: &Steps,
        isa: Isa,
        inputs: &[Operand<'_>],
        (first, block): (usize, Range<usize>),
        outs: &mut [&mut [f32]],
    ) {
        let whole = first + block.start..first + block.end;
        for it in &plan.loops {
            match it.target {
                Target::Block(index) => {
                    let mut target = mem::take(&mut self.blocks[index]);
                    let source =
                        |operand| self.source(plan, inputs, operand, [&block, &whole], outs);
                    it.merged.compute(isa, source, &mut target[..block.len()]);
                    self.blocks[index] = target;
                }
                Target::Result(index) => {
                    let target = mem::take(&mut outs[index]);
                    let source =
                        |operand| self.source(plan, inputs, operand, [&block, &whole], outs);
                    it.merged.compute(isa, source, &mut target[block.clone()]);
                    outs[index] = target;
                }
            }
        }
    }

    /// Returns the elements of an operand: `block` is their range in a chunk of the results, `whole` that in all of them.
    fn source<'s>(
        &'s self,
        plan: &Steps,
        inputs: &'s [Operand<'_>],
        operand: usize,
        [block, whole]: [&Range<usize>; 2],
        outs: &'s [&mut [f32]],
    ) -> &'s [f32] {
        match inputs.get(operand) {
            None => match plan.loops[operand - inputs.len()].target {
                Target::Block(index) => &self.blocks[index][..block.len()],
                Target::Result(index) => &outs[index][block.clone()],
            },
            Some(Operand::Whole(data)) => &data[whole.clone()],
            Some(_) => &self.loaded[operand][..block.len()],
        }
    }
}

impl MergedLoop {
    fn compute<'s>(&self, isa: Isa, source: impl Fn(usize) -> &'s [f32], out: &mut [f32]) {
        let [first, second, third] = self.operands;
        match self.body {
            Loop::Single(Body::One(function)) => function(isa, source(first), out),
            Loop::Single(Body::Two(function) | Body::TwoOfOneShape(function)) => {
                function(isa, [source(first), source(second)], out);
            }
            Loop::Pair(function) => {
                function(isa, [source(first), source(second), source(third)], out);
            }
        }
    }
}
