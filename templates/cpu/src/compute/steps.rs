//! Steps of elementwise functions, which are computed in one pass over memory: in blocks that fit in the first cache.

use super::elementary::Elementary;
use super::error::{Error, Result};
use super::inline::InlineList;
use super::nn::{activation, relu};
use super::parallel::{Cost, for_each_chunk};
use super::shape::Broadcast;
use super::simd::Isa;
use super::{arith, arith::Float};
use std::mem;

/// The elements of a block. Eight blocks take 32 KiB.
const BLOCK: usize = 1024;

/// The function that an op computes.
#[derive(Clone, Copy)]
pub struct Function {
    /// The function.
    pub body: Body,
    /// The cost of one element.
    pub cost: Cost,
}

/// A function of blocks. It writes all elements of the last one, which has the length of the others.
#[derive(Clone, Copy)]
pub enum Body {
    /// A function of one operand.
    One(fn(Isa, &[f32], &mut [f32])),
    /// A function of two operands that broadcast.
    Two(fn(Isa, [&[f32]; 2], &mut [f32])),
    /// A function of two operands of one shape.
    TwoOfOneShape(fn(Isa, [&[f32]; 2], &mut [f32])),
}

/// Functions by their ops: one operand, two that broadcast, two of one shape, each with its cost.
macro_rules! functions {
    (
        One { $($one:ident, $one_cost:ident => $f:path;)* }
        $($variant:ident { $($two:ident, $two_cost:ident => $g:path;)* })*
    ) => {
        impl Function {
            /// Returns the function that an op computes, or `None` if there is none.
            pub fn of_op(op: &str) -> Option<Self> {
                let (cost, body) = match op {
                    $(stringify!($one) => (Cost::$one_cost, Body::One(|isa, x, out| isa.vectorize(#[inline(always)] || {
                        for (out, x) in out.iter_mut().zip(x) {
                            *out = $f(*x);
                        }
                    }))),)*
                    $($(stringify!($two) => (Cost::$two_cost, Body::$variant(|isa, [x, y], out| isa.vectorize(#[inline(always)] || {
                        for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
                            *out = $g(*x, *y);
                        }
                    }))),)*)*
                    _ => return None,
                };
                Some(Self { body, cost })
            }

            /// The names of the ops that have a function.
            pub const OPS: &'static [&'static str] = &[$(stringify!($one),)* $($(stringify!($two),)*)*];
        }
    };
}

functions! {
    One {
        Abs, Cheap => activation::abs;
        Erf, Moderate => Elementary::error_function;
        Exp, Moderate => Float::exp;
        Expm1, Moderate => Elementary::exp_minus_one;
        Log, Moderate => Elementary::natural_log;
        Log1p, Moderate => Elementary::ln_plus_one;
        Neg, Cheap => arith::neg;
        Reciprocal, Cheap => activation::reciprocal;
        Relu, Cheap => relu::relu;
        Rsqrt, Cheap => activation::rsqrt;
        Sigmoid, Moderate => Elementary::logistic;
        Sign, Cheap => activation::sign;
        Softplus, Moderate => activation::softplus;
        Sqrt, Cheap => arith::sqrt;
        Square, Cheap => arith::square;
        Tanh, Moderate => Elementary::hyperbolic_tangent;
    }
    Two {
        AddV2, Cheap => arith::add;
        DivNoNan, Cheap => arith::div_no_nan;
        Maximum, Cheap => activation::maximum;
        Minimum, Cheap => activation::minimum;
        Mul, Cheap => arith::mul;
        Pow, Expensive => arith::pow;
        RealDiv, Cheap => arith::real_div;
        SquaredDifference, Cheap => activation::squared_difference;
        Sub, Cheap => arith::sub;
    }
    TwoOfOneShape {
        AddN, Cheap => arith::add;
        ReluGrad, Cheap => relu::relu_grad;
        RsqrtGrad, Cheap => activation::rsqrt_grad;
        SigmoidGrad, Cheap => activation::sigmoid_grad;
        SqrtGrad, Cheap => activation::sqrt_grad;
        TanhGrad, Cheap => activation::tanh_grad;
    }
}

/// A step: a function, its operands, and the block of its result.
struct Step {
    function: Function,
    /// The numbers of the operands: inputs, then results of steps.
    operands: [usize; 2],
    block: usize,
}

/// Steps whose last one is the result.
pub struct Steps {
    steps: Vec<Step>,
    inputs: usize,
    blocks: usize,
}

impl Steps {
    /// Plans steps of so many inputs. Operands are numbered: inputs first, then the results of the steps before. A function
    /// of one operand ignores the second one.
    ///
    /// Returns `None` if there is no step, if an operand is none of these, or if nothing reads an input or an inner result.
    pub fn new(inputs: usize, functions: &[(Function, [usize; 2])]) -> Option<Self> {
        let mut plan = Self {
            steps: Vec::with_capacity(functions.len()),
            inputs,
            blocks: 0,
        };
        let mut free = Vec::new();
        for (index, (function, operands)) in functions.iter().enumerate() {
            if operands.iter().any(|it| *it >= inputs + index) {
                return None;
            }
            let block = free.pop().unwrap_or_else(|| plan.add_block());
            plan.steps.push(Step {
                function: *function,
                operands: *operands,
                block,
            });
            // A block is free when no later step reads its result. That of a step's result differs from its operands'.
            let later = functions[index + 1..].iter().flat_map(|it| it.1);
            let is_read = |number: usize| later.clone().any(|it| it == number);
            let mut done: Vec<usize> = operands
                .iter()
                .copied()
                .filter(|it| *it >= inputs)
                .collect();
            done.dedup();
            let blocks = done.into_iter().filter(|it| !is_read(*it));
            free.extend(blocks.map(|it| plan.steps[it - inputs].block));
        }
        let last = (inputs + functions.len()).checked_sub(1)?;
        let is_read = |number: usize| functions.iter().any(|it| it.1.contains(&number));
        (!functions.is_empty() && (0..last).all(is_read)).then_some(plan)
    }

    /// Returns the shape of the result, if the single functions accept the shapes of their operands.
    ///
    /// # Errors
    /// Returns an error if two operands do not broadcast, or if those of a function of one shape differ.
    ///
    /// # Panics
    /// Panics if the number of inputs differs from that of the plan.
    pub fn result_dims<'a>(
        &self,
        inputs: impl Iterator<Item = &'a [usize]>,
    ) -> Result<InlineList<usize>> {
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
        Ok(shapes.pop().expect("there is a step"))
    }

    /// Returns the least number of elements of a task.
    fn grain(&self) -> usize {
        let cheap = Cost::Cheap.grain();
        let costs = self.steps.iter().map(|it| cheap / it.function.cost.grain());
        (cheap / costs.sum::<usize>()).max(BLOCK)
    }

    fn add_block(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    /// Computes the steps of `inputs`, each with its shape, broadcast to the shape of the result, and writes all of `out`.
    ///
    /// # Panics
    /// Panics if the number of inputs differs from that of the plan, or if an input does not broadcast to `dims`, or if
    /// `dims` is not the shape of `out`.
    pub fn run(&self, inputs: &[(&[usize], &[f32])], dims: &[usize], out: &mut [f32]) {
        assert_eq!(inputs.len(), self.inputs, "the number of inputs");
        let inputs: Vec<Operand<'_>> = inputs
            .iter()
            .map(|(shape, data)| Operand::new(shape, data, dims, out.len()))
            .collect();
        let isa = Isa::current();
        for_each_chunk(out, self.grain(), |first, out| {
            let mut scratch = Scratch::new(self, &inputs, out.len().min(BLOCK));
            for (index, out) in out.chunks_mut(BLOCK).enumerate() {
                scratch.load(&inputs, first + index * BLOCK, out.len());
                scratch.compute(self, isa, &inputs, first + index * BLOCK, out);
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
struct Scratch {
    /// For each input that has not the result's shape, its elements.
    loaded: Vec<Vec<f32>>,
    /// The results of steps.
    results: Vec<Vec<f32>>,
}

impl Scratch {
    fn new(plan: &Steps, inputs: &[Operand<'_>], len: usize) -> Self {
        let load = |input: &Operand<'_>| match input {
            Operand::Whole(_) => Vec::new(),
            Operand::Scalar(value) => vec![*value; len],
            Operand::Broadcast(..) => vec![0.0; len],
        };
        Self {
            loaded: inputs.iter().map(load).collect(),
            results: vec![vec![0.0; len]; plan.blocks],
        }
    }

    /// Loads the elements of broadcast inputs.
    fn load(&mut self, inputs: &[Operand<'_>], start: usize, count: usize) {
        for (input, block) in inputs.iter().zip(&mut self.loaded) {
            let Operand::Broadcast(plan, data) = input else {
                continue;
            };
            let step = plan.loops().last().map_or(0, |it| it.steps[0]);
            let mut position = plan.position(start);
            plan.for_each_run(&mut position, count, |done, [offset, _], length| {
                let target = &mut block[done..done + length];
                match step {
                    0 => target.fill(data[offset]),
                    _ => target.copy_from_slice(&data[offset..offset + length]),
                }
            });
        }
    }

    /// Computes a block of the result, from element `start` on.
    fn compute(
        &mut self,
        plan: &Steps,
        isa: Isa,
        inputs: &[Operand<'_>],
        start: usize,
        out: &mut [f32],
    ) {
        let len = out.len();
        let (last, steps) = plan.steps.split_last().expect("there is a step");
        for step in steps {
            let mut result = mem::take(&mut self.results[step.block]);
            step.compute(
                isa,
                |it| self.source(plan, inputs, it, start, len),
                &mut result[..len],
            );
            self.results[step.block] = result;
        }
        last.compute(isa, |it| self.source(plan, inputs, it, start, len), out);
    }

    /// Returns the next elements of an input, or the block of a step's result.
    fn source<'s>(
        &'s self,
        plan: &Steps,
        inputs: &'s [Operand<'_>],
        operand: usize,
        start: usize,
        len: usize,
    ) -> &'s [f32] {
        match inputs.get(operand) {
            None => &self.results[plan.steps[operand - inputs.len()].block][..len],
            Some(Operand::Whole(data)) => &data[start..start + len],
            Some(_) => &self.loaded[operand][..len],
        }
    }
}

impl Step {
    fn compute<'s>(&self, isa: Isa, source: impl Fn(usize) -> &'s [f32], out: &mut [f32]) {
        let [first, second] = self.operands;
        match self.function.body {
            Body::One(function) => function(isa, source(first), out),
            Body::Two(function) | Body::TwoOfOneShape(function) => {
                function(isa, [source(first), source(second)], out)
            }
        }
    }
}
