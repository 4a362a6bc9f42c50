//! The order of steps, the memory of their results, and shapes.

use super::merge::{MergedLoop, merge};
use super::{BLOCK, Body, Function};
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::inline::InlineList;
use crate::compute::machine::shape::Broadcast;

/// Functions of inputs and of earlier functions' values, of which some are results, and the loops that compute them.
pub struct Steps {
    /// The functions and the numbers of their operands.
    functions: Vec<(Function, [usize; 2])>,
    /// The numbers of the functions whose values are results.
    results: Vec<usize>,
    /// The loops in the order in which they are computed.
    pub(super) loops: Vec<PlannedLoop>,
    pub(super) inputs: usize,
    pub(super) blocks: usize,
}

/// A loop and the target of its result.
pub(super) struct PlannedLoop {
    pub merged: MergedLoop,
    pub target: Target,
}

/// The memory of a loop's result.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// A block, which further loops may use after the last one that reads it.
    Block(usize),
    /// The result of this number.
    Result(usize),
}

impl Steps {
    /// Plans steps of so many inputs. Operands are numbered: inputs first, then the steps before. A function of one operand
    /// ignores the second one. `results` are the indices of the steps that are results.
    ///
    /// Returns `None` if there is no result, if one is no step or stated twice, if an operand is none of these, or if
    /// nothing reads an input or a step that is no result.
    pub fn new(
        inputs: usize,
        functions: &[(Function, [usize; 2])],
        results: &[usize],
    ) -> Option<Self> {
        let is_result = |step: usize| results.contains(&step);
        let is_read = |number: usize| functions.iter().any(|it| it.1.contains(&number));
        let is_used =
            |number: usize| is_read(number) || number.checked_sub(inputs).is_some_and(is_result);
        let is_step_once = |it: &usize| {
            *it < functions.len() && results.iter().filter(|other| *other == it).count() == 1
        };
        let is_valid = !results.is_empty()
            && results.iter().all(is_step_once)
            && (0..inputs + functions.len()).all(is_used);
        let mut steps = functions.iter().enumerate();
        let are_known = steps.all(|(index, it)| it.1.iter().all(|it| *it < inputs + index));
        (is_valid && are_known).then(|| Self::planned(inputs, functions, results))
    }

    /// Plans valid steps.
    fn planned(inputs: usize, functions: &[(Function, [usize; 2])], results: &[usize]) -> Self {
        let merged = merge(inputs, functions, results);
        let mut plan = Self {
            functions: functions.to_vec(),
            results: results.to_vec(),
            loops: Vec::with_capacity(merged.len()),
            inputs,
            blocks: 0,
        };
        let last_reads = last_reads(inputs, &merged);
        let mut free = Vec::new();
        for (index, merged) in merged.into_iter().enumerate() {
            let target = match results.iter().position(|it| *it == merged.function) {
                Some(result) => Target::Result(result),
                None => Target::Block(free.pop().unwrap_or_else(|| plan.add_block())),
            };
            plan.loops.push(PlannedLoop { merged, target });
            // A block is free when no later loop reads its result. That of a loop's result differs from its operands'.
            let done = (inputs..=inputs + index).filter(|it| last_reads[*it] == index);
            free.extend(done.filter_map(|it| plan.block(it)));
        }
        plan
    }

    /// Returns the block of an operand, or `None` if it is an input or a result.
    fn block(&self, operand: usize) -> Option<usize> {
        match self.loops[operand.checked_sub(self.inputs)?].target {
            Target::Block(block) => Some(block),
            Target::Result(_) => None,
        }
    }

    fn add_block(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    /// Returns the shapes of the results, if the single functions accept the shapes of their operands.
    ///
    /// # Errors
    /// Returns an error if two operands do not broadcast, or if those of a function of one shape differ.
    ///
    /// # Panics
    /// Panics if the number of inputs differs from that of the plan.
    pub fn result_dims<'a>(
        &self,
        inputs: impl Iterator<Item = &'a [usize]>,
    ) -> Result<Vec<InlineList<usize>>> {
        let mut shapes: Vec<InlineList<usize>> = inputs.map(InlineList::from).collect();
        assert_eq!(shapes.len(), self.inputs, "the number of inputs");
        for (function, operands) in &self.functions {
            let [x, y] = operands.map(|it| &shapes[it]);
            let dims = match function.body {
                _ if x == y => x.clone(),
                Body::One(_) => x.clone(),
                Body::Two(_) => Broadcast::new([&x[..], &y[..]])?.dims().into(),
                Body::TwoOfOneShape(_) => {
                    return Err(Error::Invalid(format!(
                        "operands must have one shape, not {:?} and {:?}",
                        &x[..],
                        &y[..]
                    )));
                }
            };
            shapes.push(dims);
        }
        let results = self.results.iter();
        Ok(results.map(|it| shapes[self.inputs + it].clone()).collect())
    }

    /// Returns the steps of one result only, and the inputs that they read.
    pub fn restricted_to(&self, result: usize) -> (Self, Vec<usize>) {
        let last = self.inputs + self.results[result];
        let mut is_needed = vec![false; last + 1];
        is_needed[last] = true;
        for number in (self.inputs..=last).rev() {
            if is_needed[number] {
                let operands = self.functions[number - self.inputs].1;
                operands.iter().for_each(|it| is_needed[*it] = true);
            }
        }
        let needed: Vec<usize> = (0..=last).filter(|it| is_needed[*it]).collect();
        let count = needed.partition_point(|it| *it < self.inputs);
        let renumbered = |old: usize| needed.partition_point(|it| *it < old);
        let functions = needed[count..].iter().map(|it| {
            let (function, operands) = self.functions[it - self.inputs];
            (function, operands.map(renumbered))
        });
        let functions: Vec<_> = functions.collect();
        let steps = Self::planned(count, &functions, &[functions.len() - 1]);
        (steps, needed[..count].to_vec())
    }

    /// Returns the least number of elements of a task.
    pub(super) fn grain(&self) -> usize {
        let cheap = cost::Cheap.grain();
        let costs = self.functions.iter().map(|it| cheap / it.0.grain);
        (cheap / costs.sum::<usize>()).max(BLOCK)
    }

    /// Returns the number of results.
    pub fn results(&self) -> usize {
        self.results.len()
    }
}

/// Returns, for each input and each loop's result, the number of the last loop that reads it.
fn last_reads(inputs: usize, merged: &[MergedLoop]) -> Vec<usize> {
    let mut last = vec![0; inputs + merged.len()];
    for (index, it) in merged.iter().enumerate() {
        it.operands.iter().for_each(|it| last[*it] = index);
    }
    last
}
