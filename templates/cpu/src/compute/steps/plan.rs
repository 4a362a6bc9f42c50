//! The order of steps, the memory of their results, and shapes.

use super::super::cost::{self, Cost};
use super::super::error::{Error, Result};
use super::super::inline::InlineList;
use super::super::shape::Broadcast;
use super::{BLOCK, Body, Function};

/// Functions in the order in which they are computed. Some of them are results, and later ones read the others.
pub struct Steps {
    pub(super) steps: Vec<Step>,
    pub(super) inputs: usize,
    pub(super) blocks: usize,
    /// The numbers of the steps that are results.
    results: Vec<usize>,
}

/// A function, its operands, and the target of its result.
pub(super) struct Step {
    pub function: Function,
    /// The numbers of the operands: inputs, then results of steps.
    pub operands: [usize; 2],
    pub target: Target,
}

/// The memory of a step's result.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// A block, which further steps may use after the last one that reads it.
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
        let mut plan = Self {
            steps: Vec::with_capacity(functions.len()),
            inputs,
            blocks: 0,
            results: results.to_vec(),
        };
        let mut free = Vec::new();
        for (index, (function, operands)) in functions.iter().enumerate() {
            let target = match results.iter().position(|it| *it == index) {
                Some(result) => Target::Result(result),
                None => Target::Block(free.pop().unwrap_or_else(|| plan.add_block())),
            };
            plan.steps.push(Step {
                function: *function,
                operands: *operands,
                target,
            });
            // A block is free when no later step reads its result. That of a step's result differs from its operands'.
            let later = functions[index + 1..].iter().flat_map(|it| it.1);
            let is_read = |number: usize| later.clone().any(|it| it == number);
            let [x, y] = *operands;
            let distinct = [Some(x), (y != x).then_some(y)];
            let done = distinct.into_iter().flatten().filter(|it| !is_read(*it));
            free.extend(done.filter_map(|it| plan.block(it)));
        }
        plan
    }

    /// Returns the block of an operand, or `None` if it is an input or a result.
    fn block(&self, operand: usize) -> Option<usize> {
        match self.steps[operand.checked_sub(self.inputs)?].target {
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
        for step in &self.steps {
            let [x, y] = step.operands.map(|it| &shapes[it]);
            let dims = match step.function.body {
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
                let operands = self.steps[number - self.inputs].operands;
                operands.iter().for_each(|it| is_needed[*it] = true);
            }
        }
        let needed: Vec<usize> = (0..=last).filter(|it| is_needed[*it]).collect();
        let count = needed.partition_point(|it| *it < self.inputs);
        let renumbered = |old: usize| needed.partition_point(|it| *it < old);
        let functions = needed[count..].iter().map(|it| {
            let step = &self.steps[it - self.inputs];
            (step.function, step.operands.map(renumbered))
        });
        let functions: Vec<_> = functions.collect();
        let steps = Self::planned(count, &functions, &[functions.len() - 1]);
        (steps, needed[..count].to_vec())
    }

    /// Returns the least number of elements of a task.
    pub(super) fn grain(&self) -> usize {
        let cheap = cost::Cheap.grain();
        let costs = self.steps.iter().map(|it| cheap / it.function.grain);
        (cheap / costs.sum::<usize>()).max(BLOCK)
    }

    /// Returns the number of results.
    pub fn results(&self) -> usize {
        self.results.len()
    }
}
