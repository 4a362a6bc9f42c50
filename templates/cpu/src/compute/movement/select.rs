//! Elements of one of two tensors, by a condition.

use super::{by_width, elements, elements_mut};
use crate::compute::cost::{self, Cost};
use crate::compute::parallel::for_each_chunk;
use crate::compute::shape::Broadcast;
use std::iter::repeat;

/// Writes `then` where the condition is true, `otherwise` elsewhere; the three broadcast.
///
/// # Panics
/// Panics if an operand or the result has another length than the plan.
pub fn select<C: Copy + Sync, B: Copy + Send + Sync>(
    plan: &Broadcast<3>,
    width: usize,
    is_true: impl Fn(C) -> bool + Sync,
    condition: &[C],
    [then, otherwise]: [&[B]; 2],
    out: &mut [B],
) {
    by_width!(width, N => {
        let operands = [elements::<B, N>(then), elements::<B, N>(otherwise)];
        select_elements(plan, is_true, condition, operands, elements_mut::<B, N>(out));
    });
}

fn select_elements<C: Copy + Sync, T: Copy + Send + Sync>(
    plan: &Broadcast<3>,
    is_true: impl Fn(C) -> bool + Sync,
    condition: &[C],
    [then, otherwise]: [&[T]; 2],
    out: &mut [T],
) {
    let lens = [condition.len(), then.len(), otherwise.len()];
    assert_eq!(lens, plan.lens(), "operands differ in length from the plan");
    assert_eq!(
        out.len(),
        plan.len(),
        "the result differs in length from the plan"
    );
    let steps = plan.loops().last().map_or([1; 3], |it| it.steps);
    for_each_chunk(out, cost::Cheap.grain(), |start, out| {
        let count = out.len();
        plan.for_each_run(
            &mut plan.position(start),
            count,
            |done, [c, x, y], length| {
                let out = &mut out[done..done + length];
                let then = Run::new(then, x, steps[1], length);
                let otherwise = Run::new(otherwise, y, steps[2], length);
                match (steps[0], is_true(condition[c])) {
                    (0, true) => then.write(out),
                    (0, false) => otherwise.write(out),
                    _ => {
                        let condition = condition[c..c + length].iter();
                        select_run(out, condition.map(|it| is_true(*it)), then, otherwise);
                    }
                }
            },
        );
    });
}

/// The elements of an operand in the innermost loop.
#[derive(Clone, Copy)]
enum Run<'a, T> {
    /// One element.
    Repeated(T),
    /// An element for each one of the result.
    Slice(&'a [T]),
}

impl<'a, T: Copy> Run<'a, T> {
    #[inline(always)]
    fn new(source: &'a [T], first: usize, step: usize, length: usize) -> Self {
        match step {
            0 => Self::Repeated(source[first]),
            _ => Self::Slice(&source[first..first + length]),
        }
    }

    /// Writes the elements.
    #[inline]
    fn write(self, out: &mut [T]) {
        match self {
            Self::Repeated(value) => out.fill(value),
            Self::Slice(values) => out.copy_from_slice(values),
        }
    }
}

#[inline(always)]
fn select_run<T: Copy>(
    out: &mut [T],
    condition: impl Iterator<Item = bool>,
    then: Run<'_, T>,
    otherwise: Run<'_, T>,
) {
    match (then, otherwise) {
        (Run::Slice(x), Run::Slice(y)) => {
            write(out, condition, x.iter().copied(), y.iter().copied());
        }
        (Run::Slice(x), Run::Repeated(y)) => {
            write(out, condition, x.iter().copied(), repeat(y));
        }
        (Run::Repeated(x), Run::Slice(y)) => {
            write(out, condition, repeat(x), y.iter().copied());
        }
        (Run::Repeated(x), Run::Repeated(y)) => write(out, condition, repeat(x), repeat(y)),
    }
}

#[inline(always)]
fn write<T: Copy>(
    out: &mut [T],
    condition: impl Iterator<Item = bool>,
    then: impl Iterator<Item = T>,
    otherwise: impl Iterator<Item = T>,
) {
    let operands = condition.zip(then.zip(otherwise));
    for (out, (is_true, (then, otherwise))) in out.iter_mut().zip(operands) {
        *out = if is_true { then } else { otherwise };
    }
}
